package cli

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

func wideTable() *table {
	t := &table{columns: []column{
		{name: "ID"}, {name: "STATE", word: true}, {name: "ZONE", spare: 2}, {name: "TARGET", elastic: true, spare: 1}, {name: "NOTE"},
	}}
	t.add("invoices@2026-11-28", "succeeded", "America/New_York", "exec ./a-rather-long-command --with many --flags and arguments", "")
	t.add("short", "failed", "UTC", "handler x", "umlaut ä\nnew line")
	return t
}

func drawn(t *testing.T, width int) []string {
	t.Helper()
	var b strings.Builder
	if err := wideTable().draw(&b, width); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(ansi.Strip(b.String())), "\n")
}

func TestATableIsDrawnNoWiderThanTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		width   int
		headers string
	}{
		{0, "ID STATE ZONE TARGET NOTE"},
		{200, "ID STATE ZONE TARGET NOTE"},
		{105, "ID STATE ZONE TARGET NOTE"}, // the target is cut short
		{80, "ID STATE ZONE NOTE"},
		{62, "ID STATE NOTE"},
	} {
		lines := drawn(t, tc.width)
		if got := strings.Join(strings.Fields(strings.ReplaceAll(lines[1], "│", " ")), " "); got != tc.headers {
			t.Errorf("at %d columns: %s, want %s", tc.width, got, tc.headers)
		}
		for _, line := range lines {
			if w := lipgloss.Width(line); tc.width > 0 && w > tc.width {
				t.Errorf("at %d columns a line takes %d: %s", tc.width, w, line)
			}
		}
		if !strings.Contains(strings.Join(lines, "\n"), "invoices@2026-11-28") {
			t.Errorf("at %d columns a name is taken apart:\n%s", tc.width, strings.Join(lines, "\n"))
		}
	}
}

func TestAPlainTableLeavesNothingOut(t *testing.T) {
	var b strings.Builder
	if err := wideTable().plain(&b); err != nil {
		t.Fatal(err)
	}
	want := `ID                   STATE      ZONE              TARGET                                                          NOTE
invoices@2026-11-28  succeeded  America/New_York  exec ./a-rather-long-command --with many --flags and arguments  -
short                failed     UTC               handler x                                                       umlaut ä new line
`
	if b.String() != want {
		t.Errorf("got:\n%s", b.String())
	}
}
