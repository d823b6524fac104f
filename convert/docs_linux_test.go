package convert_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/duly-dev/duly/config"
	"github.com/duly-dev/duly/convert"
)

// blocks returns the code of a page, without the indentation that all lines
// share.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		lines := strings.Split(m[1], "\n")
		indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
		for i, line := range lines {
			lines[i] = line[min(indent, len(line)):]
		}
		all = append(all, strings.Join(lines, "\n"))
	}
	if len(all) == 0 {
		t.Fatalf("%s has no %s", page, language)
	}
	return all
}

func TestTheCronJobOfTheDocsGoesThroughDulyExec(t *testing.T) {
	text := blocks(t, "kubernetes.md", "yaml")[0]
	src := []convert.Source{{Name: "docs", Data: []byte(text)}}
	for _, mode := range []convert.Mode{convert.ModeExec, convert.ModeExternal} {
		r := convert.Kubernetes(src, convert.KubernetesOptions{Mode: mode})
		if len(r.Schedules) != 1 || r.Count(convert.Wrong) > 0 {
			t.Fatalf("%v", r.Notes)
		}
		s := r.Schedules[0]
		if s.ID != "invoices" || s.PeriodOffset != -1 || s.Timezone != "Europe/Berlin" || s.Retry.MaxAttempts != 7 {
			t.Errorf("%s: %+v", mode, s.Schedule)
		}
		loads(t, r)
	}
}

// The script runs here, with a duly that prints what it is told.
func TestTheScriptOfTheDocsTakesTheDueTimeFromTheJobsName(t *testing.T) {
	block := blocks(t, "kubernetes.md", "yaml")[1]
	_, script, _ := strings.Cut(block, "- |\n")
	script, _, _ = strings.Cut(script, "env:")
	bin := t.TempDir()
	if err := os.WriteFile(bin+"/duly", []byte("#!/bin/sh\necho \"$DULY_DUE $*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "JOB_NAME=every-five-minutes-29900165", "TZ=Asia/Tokyo"}
	out, err := cmd.CombinedOutput()
	if want := "2026-11-07T00:05:00Z exec sync --period-unit instant -- ./sync.sh\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

func TestTheLinesOfTheDocsAreLinesOfACrontab(t *testing.T) {
	for i, text := range blocks(t, "crontab.md", "crontab") {
		src := []convert.Source{{Name: "docs", Data: []byte(text)}}
		r := convert.Crontab(src, convert.CrontabOptions{})
		if len(r.Schedules) != 1 || r.Count(convert.Wrong) > 0 {
			t.Errorf("block %d: %v", i, r.Notes)
		}
		loads(t, r)
	}
}

func TestTheDefaultsOfTheDocsAreThoseOfAnImport(t *testing.T) {
	text := blocks(t, "crontab.md", "yaml")[0]
	file, err := config.Parse("docs", []byte(text+"schedules: { x: { cron: '0 0 * * *', target: { handler: x } } }\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := convert.Crontab([]convert.Source{{Name: "x", Data: []byte("0 0 * * * x\n")}}, convert.CrontabOptions{})
	got, want := r.Schedules[0], file.Schedules[0]
	if got.Overlap != want.Overlap || got.CatchUp != want.CatchUp || got.Retry != want.Retry {
		t.Errorf("%+v, and the docs say %+v", got.Schedule, want)
	}
}
