package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/duly-dev/duly/internal/sqltest"
)

// TestMain makes this test binary double as the duly command, so that scripts
// and tests start real processes of exactly this code.
func TestMain(m *testing.M) {
	// These tests wait for other processes most of the time. -parallel on the
	// command line outranks this.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(stopping{m}, map[string]func(){
		"duly":     func() { os.Exit(run()) },
		"charging": func() { os.Exit(charging(os.Args[1:])) },
	})
}

// servers are the databases that tests start.
var servers sqltest.Servers

// stopping runs tests, then stops what they started.
type stopping struct{ m *testing.M }

func (s stopping) Run() int { return servers.Run(s.m) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"serving": serving,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("USER", "tester")
			return nil
		},
	})
}

// exits runs a command and checks its exit code: exits 3 duly schedules show x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// serving starts a server on the script's store and sets SERVER to its URL:
// serving [FLAG...]. It is stopped, and must end well, when the script ends.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serving [FLAG...]")
	}
	p := &process{dir: ts.MkAbs("."), store: ts.Getenv("DULY_STORE")}
	url, err := p.start(args...)
	if err != nil {
		ts.Fatalf("%v", err)
	}
	ts.Setenv("SERVER", url)
	ts.Defer(func() {
		if err := p.terminate(); err != nil {
			ts.Fatalf("the server: %v", err)
		}
	})
}

// binary is the path under which this test binary is the duly command.
func binary() string {
	path, err := exec.LookPath("duly") // testscript.Main puts it there
	if err != nil {
		panic(err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		panic(err)
	}
	return abs
}
