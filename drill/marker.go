package drill

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MarkerVariable names a file to which a job that is drilled may append a line
// at the moment of an effect, instead of printing it.
const MarkerVariable = "DULY_DRILL_MARKER"

// The lines by which a job tells of an effect: on its standard output, or in
// the file that MarkerVariable names.
const (
	EffectLine = "duly: effect " // it happened just now; its business key follows
	ReusedLine = "duly: reused " // it was found done; its business key follows
)

// commandLine is what the shell says before it becomes the user's command.
const commandLine = "duly: command "

// marker is such a line.
type marker struct {
	key    string
	reused bool
	pid    int
}

func parseMarker(line string) (marker, bool) {
	line = strings.TrimSpace(line)
	if key, ok := strings.CutPrefix(line, EffectLine); ok {
		return marker{key: key}, true
	}
	if key, ok := strings.CutPrefix(line, ReusedLine); ok {
		return marker{key: key, reused: true}, true
	}
	if number, ok := strings.CutPrefix(line, commandLine); ok {
		pid, err := strconv.Atoi(number)
		return marker{pid: pid}, err == nil
	}
	return marker{}, false
}

// listenEvery is how often the file is looked at.
const listenEvery = 5 * time.Millisecond

// ears hear what one command says of its effects. It is the command's standard
// output, too.
type ears struct {
	file  string
	heard func(marker)
	stop  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex
	output lineBuffer
}

func listenTo(dir, name string, heard func(marker)) (*ears, error) {
	e := &ears{file: filepath.Join(dir, name), heard: heard, stop: make(chan struct{})}
	f, err := os.Create(e.file)
	if err != nil {
		return nil, err
	}
	e.ended.Go(func() {
		defer f.Close()
		e.read(f)
	})
	return e, nil
}

// read follows the file until it is closed, to its end.
func (e *ears) read(f *os.File) {
	look := time.NewTicker(listenEvery)
	defer look.Stop()
	var lines lineBuffer
	for last := false; ; {
		data, _ := io.ReadAll(f)
		lines.each(data, e.hear)
		if last {
			return
		}
		select {
		case <-look.C:
		case <-e.stop:
			last = true
		}
	}
}

// Write takes what the command prints.
func (e *ears) Write(data []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.output.each(data, e.hear)
	return len(data), nil
}

func (e *ears) hear(line string) {
	if m, ok := parseMarker(line); ok {
		e.heard(m)
	}
}

func (e *ears) close() {
	close(e.stop)
	e.ended.Wait()
}

// lineBuffer makes lines of pieces.
type lineBuffer struct{ rest []byte }

func (b *lineBuffer) each(data []byte, line func(string)) {
	b.rest = append(b.rest, data...)
	for {
		i := bytes.IndexByte(b.rest, '\n')
		if i < 0 {
			return
		}
		line(string(b.rest[:i]))
		b.rest = b.rest[i+1:]
	}
}
