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

// inherited is the environment of this process without its own variables.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DULY_") })
}

// environment puts together, later ones winning: what every command inherits,
// the target's own, and what the attempt is told.
func (r *Runner) environment(a target.Assignment) (env []string, remove func(), err error) {
	spec := a.Target.Exec
	env = slices.Clone(r.opt.Environ)
	if spec.Dir != "" {
		env = append(env, "PWD="+spec.Dir)
	}
	for name, value := range spec.Env {
		env = append(env, name+"="+value)
	}
	given, remove, err := Given(a)
	return append(env, given...), remove, err
}

// Given is what a command is told about its attempt, as target.Variables in
// the form "NAME=value". One that is too large for an environment is in a file
// instead, with its path in NAME_FILE, until remove is called.
func Given(a target.Assignment) (env []string, remove func(), err error) {
	var files files
	for _, v := range target.Variables(a) {
		if len(v.Value) > maxVariable {
			path, err := files.write(v.Name, v.Value)
			if err != nil {
				files.remove()
				return nil, nil, fmt.Errorf("%s is too large for the environment and cannot be written to a file: %w", v.Name, err)
			}
			v.Name, v.Value = v.Name+"_FILE", path
		}
		env = append(env, v.Name+"="+v.Value)
	}
	return env, files.remove, nil
}

// files hold the variables of one attempt that are too large. Only this
// process's user can read them.
type files struct {
	dir string // "" if there are none
}

func (f *files) write(name, value string) (path string, err error) {
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "duly-attempt-"); err != nil {
			return "", err
		}
	}
	path = filepath.Join(f.dir, name)
	return path, os.WriteFile(path, []byte(value), 0o600)
}

func (f *files) remove() {
	if f.dir != "" {
		_ = os.RemoveAll(f.dir) // a leftover in the temporary directory harms nobody
	}
}
