package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/drill"
)

func (inv *invocation) showDrill(r *drill.Report, timelines bool) error {
	t := &table{columns: []column{
		{name: "SCENARIO"},
		{name: "VERDICT", word: true},
		{name: "OCCURRENCES", spare: 2},
		{name: "ATTEMPTS"},
		{name: "EFFECTS"},
		{name: "REPEATED"},
		{name: "MISSING"},
		{name: "LOST"},
		{name: "RECOVERY", spare: 1},
	}}
	rounds := false
	for _, s := range r.Scenarios {
		rounds = rounds || s.Rounds > 1
	}
	if rounds {
		t.columns = append(t.columns, column{name: "ROUNDS"})
	}
	for _, s := range r.Scenarios {
		cells := []string{
			s.Name, string(s.Verdict), strconv.Itoa(s.Occurrences), strconv.Itoa(s.Attempts), strconv.Itoa(s.Effects),
			strconv.Itoa(s.RepeatedEffects), strconv.Itoa(s.MissingEffects), strconv.Itoa(s.LostOccurrences), recovery(s.RecoveryMS),
		}
		if rounds {
			cells = append(cells, fmt.Sprintf("%d (%d failed)", s.Rounds, s.Failed))
		}
		t.add(cells...)
	}
	if err := inv.show(t, "nothing was played"); err != nil {
		return err
	}
	sheet := newSheet(inv.paper())
	for _, s := range r.Scenarios {
		if s.Verdict == drill.Pass && !timelines {
			continue
		}
		sheet.section(s.Name + ": " + s.Title)
		for _, why := range s.Why {
			sheet.text(wrapped(clean(why), 98))
		}
		var lines strings.Builder
		if err := s.Timeline.WriteText(&lines); err != nil {
			return err
		}
		sheet.printf("\n")
		text := strings.SplitAfter(lines.String(), "\n")
		if more := len(text) - maxTimeline; more > 0 && !timelines {
			text = append(text[:maxTimeline], fmt.Sprintf("… and %d lines more: add --timeline, or --html FILE for a picture\n", more))
		}
		sheet.text(clean(strings.Join(text, "")))
	}
	sheet.printf("\n%s\n", drillSummary(r))
	return sheet.err
}

// maxTimeline bounds the lines about a scenario that failed.
const maxTimeline = 40

func drillSummary(r *drill.Report) string {
	failed := 0
	for _, s := range r.Scenarios {
		if s.Verdict == drill.Fail {
			failed++
		}
	}
	took := (time.Duration(r.DurationMS) * time.Millisecond).Round(100 * time.Millisecond)
	if failed == 0 {
		return fmt.Sprintf("%s: all %d scenarios on %s kept their promises, in %v", painted("pass"), len(r.Scenarios), r.Store, took)
	}
	return fmt.Sprintf("%s: %d of %d scenarios on %s broke a promise, in %v", painted("fail"), failed, len(r.Scenarios), r.Store, took)
}

func recovery(ms int64) string {
	if ms == 0 {
		return nothing
	}
	return fmt.Sprintf("%.1fs", float64(ms)/1000)
}

// wrapped breaks a sentence into lines.
func wrapped(text string, width int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		if at > 0 && at+1+len(word) > width {
			b.WriteString("\n")
			at = 0
		} else if at > 0 {
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String()
}

func (inv *invocation) drillListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "Explain the scenarios", Args: args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			all := drill.Scenarios()
			return inv.print(api.List[drill.Scenario]{Items: all}, func() error { return inv.showScenarios(all) })
		},
	}
}

func (inv *invocation) showScenarios(all []drill.Scenario) error {
	sheet := newSheet(inv.paper())
	for i, s := range all {
		if i > 0 {
			sheet.printf("\n")
		}
		sheet.printf("%s: %s\n", bold(s.Name), s.Title)
		for _, part := range []struct{ label, text string }{{"done", s.Does}, {"expected", s.Expects}, {"why", s.Why}, {"plays", plays(s)}} {
			sheet.line(part.label, wrapped(part.text, 84))
		}
	}
	return sheet.err
}

func plays(s drill.Scenario) string {
	switch {
	case s.Exec && s.URL:
		return "the sample, --exec and --url"
	case s.Exec:
		return "the sample and --exec"
	}
	return "the sample alone"
}
