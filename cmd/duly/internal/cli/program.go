package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"
)

// Program is the command line. Its zero value is ready to use, and it may be
// run any number of times, at once too.
type Program struct {
	// Wrapping, where set, is told when signals are no longer the program's
	// own but those of a command that it wraps.
	Wrapping *atomic.Bool
}

// Run carries out one command line and answers the exit code (see `duly help
// exit-codes`). args are without the program's name; env is in the form of
// os.Environ. The end of ctx asks for an orderly end.
func (p Program) Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	inv := &invocation{in: stdin, out: stdout, err: stderr, env: env, wrapping: p.Wrapping}
	if inv.wrapping == nil {
		inv.wrapping = new(atomic.Bool)
	}
	root := inv.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)

	cmd, err := root.ExecuteContextC(ctx)
	if closing := inv.close(); err == nil {
		err = closing
	}
	if err == nil {
		return exitOK
	}
	if ctx.Err() != nil && isInterruption(err) {
		return exitInterrupted
	}
	inv.complain(cmd, err)
	return exitCode(err)
}

// invocation is what one command line has to work with.
type invocation struct {
	in       io.Reader
	out, err io.Writer
	env      []string

	flags   globalFlags
	closers []func() error // give up what connect opened

	wrapping *atomic.Bool
	signals  chan os.Signal // for the wrapped command
}

// globalFlags are understood by every command.
type globalFlags struct {
	store  string
	server string
	output string
	by     string
}

// getenv returns the last value of a variable, as the system would.
func (inv *invocation) getenv(name string) string {
	for i := len(inv.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(inv.env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// isTerminal reports whether a stream is one that a person looks at.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}

// terminalWidth is a terminal's number of columns, 0 where it is not known.
func terminalWidth(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// now is the time by which "in 5h" is meant. The store's clock decides what is
// due; this one only helps a person to read.
func (inv *invocation) now() time.Time { return time.Now() }
