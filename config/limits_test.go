package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/config"
)

// Each of these is small and would unfold, nest or repeat without bounds.
func TestHostileFilesAreRefusedInBoundedTime(t *testing.T) {
	laughs := "x-a: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"
	merges := "x-m0: &m0 { k: 1 }\n"
	for i := range 30 {
		laughs += fmt.Sprintf("x-a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	var wide strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&wide, "k%d: 1, ", i)
	}
	merges = "x-wide: &wide { " + wide.String() + "}\nx-all:\n"
	for i := range 5000 {
		merges += fmt.Sprintf("  m%d: { <<: *wide }\n", i)
	}
	unfold := one("    every: 1h\n    target: { handler: h }\n    payload: ")
	for name, text := range map[string]string{
		"aliases of aliases":        laughs + unfold + "*a30\n",
		"merges of a wide mapping":  merges + unfold + "1\n",
		"an alias within itself":    "x-a: &a [*a]\n" + unfold + "*a\n",
		"a long text many times":    "x-a: &a \"" + strings.Repeat("x", 1<<20) + "\"\n" + unfold + "[" + strings.Repeat("*a, ", 100_000) + "]\n",
		"deep lists":                unfold + strings.Repeat("[", 100_000) + "\n",
		"deep closed lists":         unfold + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "\n",
		"deep mappings":             unfold + strings.Repeat("{a: ", 100_000) + "\n",
		"deep block lists":          strings.Repeat("- ", 100_000) + "\n",
		"deep keys":                 strings.Repeat("? ", 100_000) + "\n",
		"deep tags":                 unfold + strings.Repeat("!!str ", 100_000) + "\n",
		"deep anchors":              unfold + strings.Repeat("&a ", 100_000) + "\n",
		"deep blocks":               deepBlocks(1500),
		"a wrong value a lot":       one("    overlap: [" + strings.Repeat("x, ", 100_000) + "]\n"),
		"an endless line of faults": "schedules: {" + strings.Repeat("é: 1, ", 50_000) + "}\n",
		"a number as long as that":  unfold + "0x" + strings.Repeat("f", 1<<20) + "\n",
		"nothing but quotes":        strings.Repeat("\"", 1<<20),
		"nothing but colons":        strings.Repeat("a: ", 300_000),
		"nothing but documents":     strings.Repeat("---\n", 300_000),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := config.Parse("duly.yaml", []byte(text), nil)
			if err == nil {
				t.Error("was accepted")
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if err != nil && len(err.Error()) > 1<<20 {
				t.Errorf("the message is %d bytes long", len(err.Error()))
			}
		})
	}
}

func deepBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestTenThousandSchedulesAreNoMatter(t *testing.T) {
	var b strings.Builder
	b.WriteString("defaults: { timezone: Europe/Berlin, retry: { max_attempts: 3 } }\nschedules:\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "  s%d:\n    cron: \"%d %d * * *\"\n    target: { exec: { command: [./do, \"%d\"] } }\n    payload: { n: %d }\n", i, i%60, i%24, i, i)
	}
	start := time.Now()
	file, err := config.Parse("duly.yaml", []byte(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Schedules) != 10_000 {
		t.Errorf("%d schedules", len(file.Schedules))
	}
	t.Logf("%d bytes in %v", b.Len(), time.Since(start))
}
