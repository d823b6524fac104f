package convert_test

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/config"
	"github.com/duly-dev/duly/convert"
)

var update = flag.Bool("update", false, "write the golden files anew")

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

// sources finds the files below a folder.
func sources(t testing.TB, folder string) []convert.Source {
	t.Helper()
	var all []convert.Source
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, convert.Source{Name: strings.TrimPrefix(filepath.ToSlash(path), "testdata/"), Data: data})
		return err
	})
	if err != nil || len(all) < 3 {
		t.Fatal(len(all), err)
	}
	return all
}

func TestConversionsAreAsExpectedAndLoad(t *testing.T) {
	for _, src := range sources(t, "testdata/crontab") {
		for _, mode := range []convert.Mode{convert.ModeExec, convert.ModeExternal} {
			check(t, src, mode, convert.Crontab([]convert.Source{src}, convert.CrontabOptions{Mode: mode, Zone: "Europe/Vienna"}))
		}
	}
	for _, src := range sources(t, "testdata/k8s") {
		for _, mode := range []convert.Mode{convert.ModeExec, convert.ModeExternal} {
			check(t, src, mode, convert.Kubernetes([]convert.Source{src}, convert.KubernetesOptions{Mode: mode}))
		}
	}
}

func check(t *testing.T, src convert.Source, mode convert.Mode, r *convert.Result) {
	t.Helper()
	t.Run(src.Name+"/"+string(mode), func(t *testing.T) {
		name := strings.NewReplacer("/", "_", ".", "_").Replace(src.Name)
		golden(t, filepath.Join("testdata", "golden", name+"."+string(mode)+".yaml"), string(r.YAML()))
		var notes strings.Builder
		for _, n := range r.Notes {
			notes.WriteString(n.String() + "\n")
		}
		golden(t, filepath.Join("testdata", "golden", name+"."+string(mode)+".notes"), notes.String())
		loads(t, r)
	})
}

// checker is a test, or a case of a property.
type checker interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// loads holds what the file says against what was meant.
func loads(t checker, r *convert.Result) {
	t.Helper()
	file, err := config.Parse("duly.yaml", r.YAML(), nil)
	if err != nil {
		t.Fatalf("does not load: %v\n%s", err, r.YAML())
	}
	var want []duly.Schedule
	for _, s := range r.Schedules {
		want = append(want, s.Schedule)
	}
	if diff := cmp.Diff(asJSON(t, want), asJSON(t, file.Schedules)); diff != "" {
		t.Errorf("loads as something else (-meant +loaded):\n%s\n%s", diff, r.YAML())
	}
}

func asJSON(t checker, schedules []duly.Schedule) []any {
	t.Helper()
	all := []any{}
	for _, s := range schedules {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func TestConvertingTwiceGivesTheSame(t *testing.T) {
	all := sources(t, "testdata/crontab")
	once := convert.Crontab(all, convert.CrontabOptions{})
	again := convert.Crontab(all, convert.CrontabOptions{})
	if diff := cmp.Diff(string(once.YAML()), string(again.YAML())); diff != "" {
		t.Error(diff)
	}
	loads(t, once)
}
