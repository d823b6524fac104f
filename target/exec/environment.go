package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duly-dev/duly/target"
)

// maxVariable is how large a variable may be. Linux refuses to start a command
// with one of 128 KiB, its name included.
const maxVariable = 120 << 10

// environment is what a command is started with, and the files it refers to.
type environment struct {
	vars []string
	dir  string // of the files; "" if there are none
}

// inherited is the environment of this process without its own variables.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DULY_") })
}

// environment puts together, later ones winning: what every command inherits,
// the target's own, and what the attempt is told.
func (r *Runner) environment(a target.Assignment) (*environment, error) {
	spec := a.Target.Exec
	env := &environment{vars: slices.Clone(r.opt.Environ)}
	if spec.Dir != "" {
		env.set("PWD", spec.Dir)
	}
	for name, value := range spec.Env {
		env.set(name, value)
	}
	for _, v := range target.Variables(a) {
		if len(v.Value) <= maxVariable {
			env.set(v.Name, v.Value)
			continue
		}
		if err := env.setFile(v.Name, v.Value); err != nil {
			env.remove()
			return nil, fmt.Errorf("%s is too large for the environment and cannot be written to a file: %w", v.Name, err)
		}
	}
	return env, nil
}

func (e *environment) set(name, value string) { e.vars = append(e.vars, name+"="+value) }

// setFile sets NAME_FILE to the path of a file that holds the value. Only this
// process's user can read it.
func (e *environment) setFile(name, value string) error {
	if e.dir == "" {
		dir, err := os.MkdirTemp("", "duly-attempt-")
		if err != nil {
			return err
		}
		e.dir = dir
	}
	path := filepath.Join(e.dir, name)
	if err := os.WriteFile(path, []byte(value), 0o600); err != nil {
		return err
	}
	e.set(name+"_FILE", path)
	return nil
}

func (e *environment) remove() {
	if e.dir != "" {
		_ = os.RemoveAll(e.dir) // a leftover in the temporary directory harms nobody
	}
}
