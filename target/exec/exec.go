package exec

import (
	"cmp"
	"context"
	"io"
	osexec "os/exec"
	"time"

	"github.com/duly-dev/duly/target"
)

const (
	defaultKillAfter   = 10 * time.Second
	defaultOutputLimit = 64 << 10
)

// Options are a Runner's settings. The zero value is good for a server.
type Options struct {
	// Environ is what every command inherits, as "NAME=value". Default: the
	// environment of this process without its own DULY_ variables, which hold
	// the store's address and tokens. A target's env and the variables of the
	// attempt come on top.
	Environ []string
	// Stdout and Stderr, where set, are given what commands print as it comes,
	// besides what is kept of it. They must allow concurrent use. Default: none.
	Stdout, Stderr io.Writer
}

// Runner runs commands. It implements target.Runner and needs no closing.
type Runner struct {
	opt Options
}

// New makes a Runner.
func New(opt Options) *Runner {
	if opt.Environ == nil {
		opt.Environ = inherited()
	}
	return &Runner{opt: opt}
}

// Run implements target.Runner. A command that even SIGKILL does not end (it
// hangs in the kernel, or belongs to another user) keeps Run waiting: its
// attempt is not over.
func (r *Runner) Run(ctx context.Context, a target.Assignment) target.Result {
	spec := a.Target.Exec
	if spec == nil || len(spec.Command) == 0 {
		return target.FailedForGood("the target names no command: set target.exec.command")
	}
	if ctx.Err() != nil {
		return target.Stopped(ctx)
	}

	env, remove, err := r.environment(a)
	if err != nil {
		return target.Failed(err.Error())
	}
	defer remove()

	cmd := osexec.Command(spec.Command[0], spec.Command[1:]...)
	cmd.Dir = spec.Dir
	cmd.Env = env
	out, err := r.capture(cmd, cmp.Or(spec.OutputLimit, defaultOutputLimit))
	if err != nil {
		return target.Failed("its output cannot be captured: " + err.Error())
	}

	p, err := start(cmd)
	if err != nil {
		out.abandon()
		return startFailure(spec, err)
	}
	out.begin()
	killAfter := cmp.Or(spec.KillAfter.Std(), defaultKillAfter)
	end := p.wait(ctx, killAfter, out.closed)

	res := verdict(ctx, end, killAfter)
	res.Output = out.finish()
	return res
}
