//go:build linux || darwin

package exec_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/exec"
)

var _ target.Runner = (*exec.Runner)(nil)

func TestExitCodesAreAnswers(t *testing.T) {
	tests := []struct {
		script    string
		outcome   duly.Outcome
		permanent bool
		code      int
		text      string
	}{
		{"exit 0", duly.AttemptSucceeded, false, 0, ""},
		{"exit 1", duly.AttemptFailed, false, 1, "exit status 1"},
		{"exit 65", duly.AttemptFailed, true, 65, "trying again cannot help"},
		{"exit 75", duly.AttemptFailed, false, 75, "asks to be tried again"},
		{"exit 79", duly.AttemptUncertain, false, 79, "does not know whether"},
		{"no-such-program", duly.AttemptFailed, false, 127, "exit status 127"},
		{"kill -SEGV $$", duly.AttemptFailed, false, 139, "killed by SIGSEGV"},
		{"kill -KILL $$", duly.AttemptFailed, false, 137, "killed by SIGKILL, by a person or for lack of memory"},
	}
	for _, tt := range tests {
		t.Run(tt.script, func(t *testing.T) {
			res := run(t.Context(), shell(tt.script))
			if res.Outcome != tt.outcome || res.Permanent != tt.permanent || !strings.Contains(res.Error, tt.text) {
				t.Errorf("got %+v", res)
			}
			if tt.text == "" && res.Error != "" {
				t.Errorf("success has the error %q", res.Error)
			}
			if res.ExitCode == nil || *res.ExitCode != tt.code {
				t.Errorf("exit code %v, want %d", res.ExitCode, tt.code)
			}
		})
	}
}

func TestNoShellTouchesTheArguments(t *testing.T) {
	a := shell("")
	a.Target.Exec.Command = []string{"echo", "$HOME", "a  b", "*", `"`}
	if res := run(t.Context(), a); res.Output != "$HOME a  b * \"\n" {
		t.Errorf("output %q", res.Output)
	}
}

func TestStdoutAndStderrAreKeptInOrder(t *testing.T) {
	res := run(t.Context(), shell("echo one; echo two >&2; echo three"))
	if res.Output != "one\ntwo\nthree\n" {
		t.Errorf("output %q", res.Output)
	}
}

func TestOutputIsPassedOnAsItComesToo(t *testing.T) {
	var out, errs bytes.Buffer
	r := exec.New(exec.Options{Stdout: &out, Stderr: &errs})
	res := r.Run(t.Context(), shell("echo one; echo two >&2"))
	if out.String() != "one\n" || errs.String() != "two\n" {
		t.Errorf("stdout %q, stderr %q", out.String(), errs.String())
	}
	if !strings.Contains(res.Output, "one\n") || !strings.Contains(res.Output, "two\n") {
		t.Errorf("kept %q", res.Output)
	}
}

func TestAReaderThatIsGoneDoesNotStopTheCommand(t *testing.T) {
	r := exec.New(exec.Options{Stdout: brokenWriter{}})
	res := r.Run(t.Context(), shell("echo one; echo two"))
	if res.Outcome != duly.AttemptSucceeded || res.Output != "one\ntwo\n" {
		t.Errorf("got %+v", res)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestOutputThatNoStoreCouldKeepIsMadeValid(t *testing.T) {
	res := run(t.Context(), shell(`printf 'caf\351 \000 ok'`))
	if res.Output != "caf\uFFFD \uFFFD ok" {
		t.Errorf("output %q", res.Output)
	}
}

func TestPrintsOneGigabyteAndKeepsBothEndsInLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := run(t.Context(), testBinary("flood", ""))
	runtime.ReadMemStats(&after)

	if res.Outcome != duly.AttemptSucceeded {
		t.Fatalf("got %+v", res)
	}
	if !strings.HasPrefix(res.Output, "the first line\nall work") || !strings.HasSuffix(res.Output, "no play\nthe last line\n") {
		t.Errorf("begins %.40q, ends %q", res.Output, res.Output[len(res.Output)-40:])
	}
	if !strings.Contains(res.Output, " bytes left out …]\n") {
		t.Error("no mark where bytes are left out")
	}
	if len(res.Output) < 64<<10 || len(res.Output) > 65<<10 {
		t.Errorf("kept %d bytes, want 64 KiB and a mark", len(res.Output))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("allocated %d bytes for it", used)
	}
}

func TestACommandIsToldAboutItsAttempt(t *testing.T) {
	a := shell("env")
	a.Schedule, a.Occurrence, a.Period = "invoices", "invoices@2026-11-28", "2026-11-28"
	a.Due = time.Date(2026, 11, 29, 0, 0, 0, 0, time.FixedZone("", 3600))
	a.Attempt, a.Token, a.Resource = 2, 41, "schedule/invoices"
	a.IdempotencyKey = "invoices@2026-11-28"
	a.Payload = []byte(`{"region":"eu"}`)
	a.Target.Exec.Env = map[string]string{"REGION": "eu", "DULY_ATTEMPT": "99"}
	env := strings.Split(run(t.Context(), a).Output, "\n")
	for _, want := range []string{
		"DULY_OCCURRENCE=invoices@2026-11-28", `DULY_COVERS=["2026-11-28"]`, "DULY_DUE=2026-11-28T23:00:00Z",
		"DULY_ATTEMPT=2", "DULY_FENCING_TOKEN=41", `DULY_PAYLOAD={"region":"eu"}`, "REGION=eu", "PATH=" + os.Getenv("PATH"),
	} {
		if !slices.Contains(env, want) {
			t.Errorf("%s is missing in %q", want, env)
		}
	}
}

func TestTheServersOwnSecretsAreNotHandedOn(t *testing.T) {
	t.Setenv("DULY_TOKEN", "secret")
	t.Setenv("DULY_STORE", "postgres://user:password@db/duly")
	if out := run(t.Context(), shell("env")).Output; strings.Contains(out, "secret") || strings.Contains(out, "password") {
		t.Errorf("the command can read %q", out)
	}
}

func TestWhatIsTooLargeForTheEnvironmentIsInAFile(t *testing.T) {
	a := shell(`test -z "${DULY_PAYLOAD+set}" && wc -c <"$DULY_PAYLOAD_FILE" && wc -c <"$DULY_COVERS_FILE" && echo "$DULY_PAYLOAD_FILE"`)
	a.Payload = []byte(`"` + strings.Repeat("x", 256<<10-2) + `"`)
	for minute := range 10_000 {
		a.Covers = append(a.Covers, fmt.Sprintf("2026-11-28T%08d", minute))
	}
	res := run(t.Context(), a)
	fields := strings.Fields(res.Output)
	if res.Outcome != duly.AttemptSucceeded || len(fields) != 3 || fields[0] != "262144" || fields[1] != "220001" {
		t.Fatalf("got %+v", res)
	}
	if _, err := os.Stat(filepath.Dir(fields[2])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the files are still there: %v", err)
	}
}

func TestItRunsInItsDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "invoice.sh"), []byte("#!/bin/sh\npwd -P\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	a := shell("")
	a.Target.Exec.Command, a.Target.Exec.Dir = []string{"./invoice.sh"}, dir
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if res := run(t.Context(), a); res.Output != real+"\n" {
		t.Errorf("got %+v", res)
	}
}

func TestACommandThatCannotStartSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name      string
		spec      duly.ExecTarget
		permanent bool
		text      string
	}{
		{"NotInPathIsRetried", duly.ExecTarget{Command: []string{"no-such-program"}}, false, "is not on this node (PATH="},
		{"NoFileIsRetried", duly.ExecTarget{Command: []string{dir + "/none"}}, false, "is not on this node"},
		{"NoFileOfARelativePathSaysWhereItWasSought", duly.ExecTarget{Command: []string{"./none"}}, false, "(" + dir + "/none)"},
		{"NoFileOfARelativePathInADirectorySaysWhereItWasSought", duly.ExecTarget{Command: []string{"./none"}, Dir: dir + "/."}, false, "(" + dir + "/none)"},
		{"NoDirectoryIsRetried", duly.ExecTarget{Command: []string{"true"}, Dir: dir + "/none"}, false, "none\" is not on this node: create it"},
		{"NoInterpreterIsRetried", duly.ExecTarget{Command: []string{file("interp", "#!/no/such/shell\n", 0o755)}}, false, "interpreter"},
		{"NoInterpreterBesideItsDirectoryIsRetried", duly.ExecTarget{Command: []string{"./interp"}, Dir: dir}, false, "interpreter"},
		{"NoInterpreterOfARelativePathIsRetried", duly.ExecTarget{Command: []string{"./interp"}}, false, "interpreter"},
		{"NotExecutableIsPermanent", duly.ExecTarget{Command: []string{file("plain", "#!/bin/sh\n", 0o644)}}, true, "chmod +x"},
		{"NoProgramIsPermanent", duly.ExecTarget{Command: []string{file("text", "hello\n", 0o755)}}, true, "#!/bin/sh"},
		{"DirectoryIsAFileIsPermanent", duly.ExecTarget{Command: []string{"true"}, Dir: file("file", "", 0o644)}, true, "not a directory"},
		{"TooManyArgumentsIsPermanent", duly.ExecTarget{Command: []string{"true", strings.Repeat("x", 4<<20)}}, true, "larger than the system allows"},
		{"NoCommandIsPermanent", duly.ExecTarget{}, true, "target.exec.command"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t.Context(), target.Assignment{Target: duly.Target{Exec: &tt.spec}})
			if res.Outcome != duly.AttemptFailed || res.Permanent != tt.permanent || !strings.Contains(res.Error, tt.text) {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestNothingStartsOnceTheAttemptIsOver(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(target.ErrDraining)
	dir := t.TempDir()
	res := run(ctx, shell("touch "+dir+"/started"))
	if res.Outcome != duly.AttemptReleased {
		t.Errorf("got %+v", res)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Error("the command was started")
	}
}
