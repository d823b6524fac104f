package exec

import (
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/duly-dev/duly/target"
)

// lastOutput is how long what a command left in its pipe is still read when
// somebody outside its group holds the pipe open.
const lastOutput = 500 * time.Millisecond

// output is what a command prints, on its way from the pipes to what is kept.
type output struct {
	kept   kept
	pipes  []pipe
	closed chan struct{} // closed when nobody holds the write ends any more
	copies sync.WaitGroup
}

type pipe struct {
	r, w *os.File
	to   io.Writer
}

// capture connects a command's output. begin or abandon must follow.
func (r *Runner) capture(cmd *osexec.Cmd, limit int) (*output, error) {
	out := &output{kept: kept{limit: limit}, closed: make(chan struct{})}
	w, err := out.pipe(r.opt.Stdout)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w // one pipe keeps the order of what is printed
	if r.opt.Stdout == nil && r.opt.Stderr == nil {
		return out, nil
	}
	w, err = out.pipe(r.opt.Stderr)
	if err != nil {
		out.abandon()
		return nil, err
	}
	cmd.Stderr = w
	return out, nil
}

func (o *output) pipe(to io.Writer) (w *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o.pipes = append(o.pipes, pipe{r, w, to})
	return w, nil
}

// abandon closes the pipes of a command that was not started.
func (o *output) abandon() {
	for _, p := range o.pipes {
		_ = p.r.Close()
		_ = p.w.Close()
	}
}

// begin reads until the pipes are closed. finish must follow.
func (o *output) begin() {
	for _, p := range o.pipes {
		_ = p.w.Close() // the command has its own
		o.copies.Go(func() { p.copy(&o.kept) })
	}
	go func() {
		o.copies.Wait()
		close(o.closed)
	}()
}

// copy ends with the pipe, or with its deadline.
func (p pipe) copy(kept *kept) {
	buf := make([]byte, 32<<10)
	to := p.to
	for {
		n, err := p.r.Read(buf)
		kept.write(buf[:n])
		if to != nil {
			if _, failed := to.Write(buf[:n]); failed != nil {
				to = nil // a reader that is gone must not stop the command
			}
		}
		if err != nil {
			return
		}
	}
}

// finish returns what is kept. The command and its group are gone, so the pipes
// are at their end, unless somebody outside the group holds them open.
func (o *output) finish() string {
	for _, p := range o.pipes {
		_ = p.r.SetReadDeadline(time.Now().Add(lastOutput))
	}
	<-o.closed
	for _, p := range o.pipes {
		_ = p.r.Close()
	}
	return o.kept.text()
}

// kept holds the first and the last half of limit bytes, however many are
// written.
type kept struct {
	limit int

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int64
}

func (k *kept) write(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total += int64(len(p))
	headRoom := k.limit/2 - len(k.head)
	n := min(headRoom, len(p))
	k.head = append(k.head, p[:n]...)
	p = p[n:]

	size := k.limit - k.limit/2
	p = p[max(0, len(p)-size):]
	n = min(size-len(k.tail), len(p))
	k.tail = append(k.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(k.tail[k.next:], p)
		k.next = (k.next + n) % size
	}
}

// text says where bytes are left out, and how many.
func (k *kept) text() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	tail := append(k.tail[k.next:len(k.tail):len(k.tail)], k.tail[:k.next]...)
	if k.total == int64(len(k.head)+len(tail)) {
		return target.Text(append(k.head, tail...))
	}
	head, tail := wholeRunes(k.head, tail)
	left := k.total - int64(len(head)+len(tail))
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", target.Text(head), left, target.Text(tail))
}

// wholeRunes takes off the characters that the cuts went through.
func wholeRunes(head, tail []byte) (h, t []byte) {
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if last := head[len(head)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	for i := 0; i < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
		tail = tail[1:]
	}
	return head, tail
}
