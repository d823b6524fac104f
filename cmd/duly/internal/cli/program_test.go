package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
)

// ran runs a command line in this process.
func ran(t *testing.T, ctx context.Context, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = Program{}.Run(ctx, args, strings.NewReader(""), &out, &errs, env)
	return code, out.String(), errs.String()
}

func TestEveryErrorCodeHasAnExitCodeThatIsDocumented(t *testing.T) {
	documented := map[int]bool{}
	for _, e := range exitCodes {
		documented[e.code] = true
	}
	for _, code := range []duly.Code{
		duly.CodeInvalid, duly.CodeNotFound, duly.CodeConflict, duly.CodeNotHolder,
		duly.CodeStaleToken, duly.CodeUnavailable, duly.CodeUncertain, duly.CodeInternal,
	} {
		exit := exitCode(fmt.Errorf("while at it: %w", duly.Errorf(code, "x")))
		if _, known := codeExits[code]; !known || !documented[exit] || exit == 0 {
			t.Errorf("%s ends with %d", code, exit)
		}
	}
	if got := exitCode(withHint(usagef("x"), "y")); got != exitUsage {
		t.Errorf("a usage error with a hint ends with %d", got)
	}
}

func TestTheCommandLineOutranksTheEnvironment(t *testing.T) {
	env := []string{"DULY_SERVER=http://127.0.0.1:1", "DULY_STORE=sqlite:" + t.TempDir() + "/env.db"}
	if code, _, _ := ran(t, t.Context(), env, "schedules", "ls"); code != exitUnavailable {
		t.Errorf("with DULY_SERVER: exit code %d, want the server to be asked", code)
	}
	code, out, errs := ran(t, t.Context(), env, "migrate", "--store", "sqlite:"+t.TempDir()+"/flag.db")
	if code != exitOK || !strings.Contains(out, "flag.db is ready") {
		t.Errorf("with --store: exit code %d, %s%s", code, out, errs)
	}
}

func TestAnAddressThatCannotBeMeantSaysHowToWriteIt(t *testing.T) {
	for args, want := range map[string]string{
		"schedules ls --server nope":            `"nope" is not the address of a server`,
		"schedules ls --server localhost:4747":  "write it as http://HOST:PORT",
		"schedules ls --server ftp://127.0.0.1": "write it as http://HOST:PORT",
		"schedules ls --store duly.db":          "write: --store sqlite:duly.db",
		"serve --store duly.db":                 "write: --store sqlite:duly.db",
	} {
		code, _, errs := ran(t, t.Context(), nil, strings.Fields(args)...)
		if code != exitInvalid || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d, %s", args, code, errs)
		}
	}
}

func TestHelpKnowsWhatThereIs(t *testing.T) {
	for args, want := range map[string]string{
		"help":               "Define schedules:",
		"help next":          "duly next 'CRON'",
		"help schedules ls":  "duly schedules ls",
		"help exit-codes":    "75",
		"help schedules lst": "did you mean: duly schedules ls",
		"help schedle":       "did you mean: duly schedules",
	} {
		code, out, errs := ran(t, t.Context(), nil, strings.Fields(args)...)
		wrong := strings.Contains(want, "did you mean")
		if !strings.Contains(out+errs, want) || (code == exitUsage) != wrong {
			t.Errorf("%s: exit code %d, %s%s", args, code, out, errs)
		}
	}
}

func TestAnInterruptHasAnExitCodeOfItsOwn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errs := ran(t, ctx, nil, "schedules", "ls", "--server", "http://127.0.0.1:1"); code != exitInterrupted || errs != "" {
		t.Errorf("exit code %d, %q", code, errs)
	}
}

func TestPasswordsOfURLsAreNotShown(t *testing.T) {
	for raw, want := range map[string]string{
		"postgres://duly:secret@db/duly": "postgres://duly:xxxxx@db/duly",
		"sqlite:duly.db":                 "sqlite:duly.db",
		"sqlite:/var/lib/duly/duly.db":   "sqlite:/var/lib/duly/duly.db",
	} {
		if got := visibleURL(raw); got != want {
			t.Errorf("%s is shown as %s", raw, got)
		}
	}
}

func TestChangingWhatIsThereMakesNoStore(t *testing.T) {
	for _, args := range []string{
		"schedules pause s", "schedules resume s", "schedules rm s", "schedules trigger s",
		"schedules backfill s --from 2026-11-01 --to 2026-11-02", "occurrences retry s@x", "occurrences cancel s@x",
	} {
		file := filepath.Join(t.TempDir(), "slip.db")
		code, _, errs := ran(t, t.Context(), nil, append(strings.Fields(args), "--store", "sqlite:"+file)...)
		if code != exitCode(duly.Errorf(duly.CodeNotFound, "")) || !strings.Contains(errs, "slip.db does not exist") {
			t.Errorf("%s: exit code %d, %s", args, code, errs)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s made a store", args)
		}
	}
}
