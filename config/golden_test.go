package config_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/config"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// environment is what ${env:…} finds in tests.
func environment(name string) (string, bool) {
	value, ok := map[string]string{
		"EMPTY":       "",
		"SECRET":      "hunter2 \"quoted\" hunter2",
		"INVOICE_KEY": "0123456789",
	}[name]
	return value, ok
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); if that is right, run the test with -update:\n%s", path, diff)
	}
}

func TestEveryFaultIsNamedWhereItStands(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, err := config.Parse(filepath.ToSlash(path), data, environment)
			if err == nil {
				t.Fatalf("was accepted: %+v", file)
			}
			if file != nil {
				t.Error("a file came with the error")
			}
			var faults config.Faults
			if !errors.As(err, &faults) || duly.CodeOf(err) != duly.CodeInvalid {
				t.Fatalf("not faults of code invalid: %v", err)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a secret is shown:\n%v", err)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".err", err.Error()+"\n")
		})
	}
}

func TestWhatIsProbablyNotMeantIsAWarning(t *testing.T) {
	file, err := config.Load("testdata/warnings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/warnings.warn", file.Warnings.Error()+"\n")
}
