package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
)

// Whatever is in a file: Parse answers soon, with definitions that are valid
// and survive JSON, or with faults that point into the file.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/faults/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatal(pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		start := time.Now()
		file, err := Parse("duly.yaml", data, func(string) (string, bool) { return "value", true })
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
		if err != nil {
			checkFaults(t, data, err)
			return
		}
		for _, s := range file.Schedules {
			if _, faults := plan.Compile(s); len(faults) > 0 {
				t.Errorf("schedule %q cannot be compiled: %v", s.ID, faults)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var again duly.Schedule
			if err := json.Unmarshal(text, &again); err != nil {
				t.Fatal(err)
			}
			twice, err := json.Marshal(again)
			if err != nil || string(twice) != string(text) {
				t.Errorf("%s reads back as %s (%v)", text, twice, err)
			}
		}
	})
}

func checkFaults(t *testing.T, data []byte, err error) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) {
		if len(data) <= maxFile {
			t.Errorf("not faults: %v", err)
		}
		return
	}
	lines := 1 + strings.Count(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") + strings.Count(string(data), "\r")
	for i, f := range faults {
		if f.Line < 1 || f.Line > lines || f.Column < 1 || f.Message == "" {
			t.Errorf("%v is not in the file", f)
		}
		if i > 0 && f.Line < faults[i-1].Line {
			t.Errorf("%v comes after %v", f, faults[i-1])
		}
	}
	_ = err.Error()
}
