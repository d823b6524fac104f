// Package wrap runs the command behind `duly lock` and `duly exec`: like a
// shell would, in the foreground of whoever called, with signals passed on.
// Unlike package target/exec it keeps nothing of the output and judges no exit
// code; it only sees to it that the command, and what it started, ends when
// ownership does.
package wrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command is a program to run.
type Command struct {
	Args []string
	// Env comes on top of the caller's environment.
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	KillAfter      time.Duration // between SIGTERM and SIGKILL; default 10s
	Signals        <-chan os.Signal
}

// Exit codes as shells use them.
const (
	codeNotExecutable = 126
	codeNotFound      = 127
	codeSignalled     = 128
)

// Ending is how a command came to its end.
type Ending struct {
	// Code is the exit code, 128 + n for an end by signal n; 126 or 127 where
	// the command could not be started.
	Code int
	// Stopped: it was asked to stop since ctx had ended.
	Stopped bool
	// Signal is an interrupt or SIGTERM that was passed on; nil for none.
	Signal os.Signal
}

// Run runs the command to its end. When ctx ends it is asked to stop, and
// killed when it does not; signals that arrive are passed on to it and all it
// started. An error says why it could not be started.
func (c Command) Run(ctx context.Context) (Ending, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	own := ownGroup(cmd, c.Stdin)
	// What stays behind and holds the pipes must not keep us.
	cmd.WaitDelay = time.Second

	// On Linux the command's death with ours is bound to the thread that
	// starts it, which therefore must live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		code := codeNotExecutable
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			code = codeNotFound
		}
		return Ending{Code: code}, fmt.Errorf("%s cannot be started: %w", c.Args[0], err)
	}
	ended := make(chan struct{})
	relayed := make(chan Ending)
	go func() { relayed <- c.relay(ctx, cmd.Process, own, ended) }()
	err := cmd.Wait()
	close(ended)
	end := <-relayed
	end.Code = code(cmd.ProcessState, err)
	if own {
		kill(cmd.Process, own, syscall.SIGKILL) // what it left behind in its group
	}
	return end, nil
}

// relay passes signals on, and ends the command when ctx ends. It answers what
// it told the command.
func (c Command) relay(ctx context.Context, p *os.Process, own bool, ended <-chan struct{}) (told Ending) {
	over := ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-ended:
			return told
		case s := <-c.Signals:
			if sig, ok := s.(syscall.Signal); ok {
				kill(p, own, sig)
			}
			if s == os.Interrupt || s == syscall.SIGTERM {
				told.Signal = s
			}
		case <-over:
			over, told.Stopped = nil, true
			kill(p, own, syscall.SIGTERM)
			after := c.KillAfter
			if after <= 0 {
				after = 10 * time.Second
			}
			late = time.After(after)
		case <-late:
			kill(p, own, syscall.SIGKILL)
		}
	}
}

func code(state *os.ProcessState, err error) int {
	if state == nil {
		return 1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return codeSignalled + int(status.Signal())
	}
	if state.ExitCode() == 0 && err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return 1 // its output could not be passed on
	}
	return state.ExitCode()
}
