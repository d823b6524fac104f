package drill

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	osexec "os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a node's process, as the director sees it.
type process struct {
	name  string
	cmd   *osexec.Cmd
	stdin io.WriteCloser
	log   *logBuffer
	ended chan struct{} // closed when it has ended and all that it said is heard

	mu       sync.Mutex
	commands []int // pids of commands that it has started and that have not been reported ended
}

// launch starts a node. hear is called with all it says, in order.
func launch(command []string, cfg nodeConfig, hear func(event)) (*process, error) {
	p := &process{name: cfg.Name, log: &logBuffer{}, ended: make(chan struct{})}
	p.cmd = osexec.Command(command[0], command[1:]...)
	p.cmd.SysProcAttr = groupLeader()
	p.cmd.Stderr = p.log
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a node: %w", err)
	}
	p.stdin = in
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) != nil {
				continue // not ours
			}
			e.node = p
			p.note(e)
			hear(e)
		}
		_ = p.cmd.Wait() // the state says how it ended
	}()
	text, err := json.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	if _, err := in.Write(append(text, '\n')); err != nil {
		return nil, fmt.Errorf("start a node: %w\n%s", err, p.log.String())
	}
	return p, nil
}

func (p *process) note(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind == saysCommand {
		p.commands = append(p.commands, e.PID)
	}
}

// groups are the commands that still live.
func (p *process) groups() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = slices.DeleteFunc(p.commands, func(pid int) bool { return !groupAlive(pid) })
	return slices.Clone(p.commands)
}

// openGates lets everything pass a point from now on.
func (p *process) openGates(point eventKind) {
	_, _ = io.WriteString(p.stdin, openGates+string(point)+"\n")
}

// kill is what a power failure does: node and commands are gone at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	for _, pid := range p.groups() {
		signalGroup(pid, syscall.SIGKILL)
	}
	<-p.ended
}

// freeze is what the pause of a machine does, and thaw its end: commands come
// to before the node does, which is the unkinder order.
func (p *process) freeze() {
	_ = p.cmd.Process.Signal(sigStop)
	p.freezeCommands()
}

func (p *process) freezeCommands() {
	for _, pid := range p.groups() {
		signalGroup(pid, sigStop)
	}
}

func (p *process) thawCommands() {
	for _, pid := range p.groups() {
		signalGroup(pid, sigContinue)
	}
}

func (p *process) thaw() { _ = p.cmd.Process.Signal(sigContinue) }

func (p *process) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }

// exited reports whether the process has ended, and how.
func (p *process) exited() (code int, ended bool) {
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), true
	default:
		return 0, false
	}
}

// waitGone waits until the process has ended, or a while.
func (p *process) waitGone(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// waitCommands waits until its commands have ended, or a while.
func (p *process) waitCommands(d time.Duration) {
	for deadline := time.Now().Add(d); len(p.groups()) > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond) // a group that is not our child tells nobody of its end
	}
}

// logBuffer keeps what a node logs.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(data)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
