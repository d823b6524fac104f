package convert

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
)

func TestWhatGoesThroughDulyExecKeepsItsIDAndPeriods(t *testing.T) {
	const command = `command: [/usr/bin/duly, exec, --tz, Europe/Berlin, billing/bills, --period-offset=-1, --timeout, 10m, --store, "$(S)"], args: [--, ./invoice.sh, --all]`
	text := strings.Replace(manifest("0 2 * * *", "", ""), "command: [c]", command, 1)
	line := "0 2 * * * duly exec billing/bills --tz Europe/Berlin --period-offset -1 --timeout 10m -- ./invoice.sh \"$X\" -- y\n"

	for mode, results := range map[Mode][]*Result{
		ModeExec: {
			convertManifest(text, KubernetesOptions{Mode: ModeExec}),
			convertCrontab(t, line, CrontabOptions{}),
		},
		ModeExternal: {
			convertManifest(text, KubernetesOptions{Mode: ModeExternal}),
			convertCrontab(t, line, CrontabOptions{Mode: ModeExternal}),
		},
	} {
		for i, r := range results {
			s := one(t, r)
			if s.ID != "billing/bills" || s.Period != duly.PeriodDay || s.PeriodOffset != -1 || s.Timeout != duly.Duration(10*time.Minute) || s.Lease != 0 {
				t.Errorf("%s %d: %+v", mode, i, s)
			}
			if len(r.Schedules[0].Advice) > 0 {
				t.Errorf("%s %d: is advised to wrap what is wrapped: %q", mode, i, r.Schedules[0].Advice)
			}
			if mode == ModeExternal {
				if s.Timezone != "Europe/Berlin" {
					t.Errorf("%s %d: the zone is %s", mode, i, s.Timezone)
				}
				continue
			}
			want := `["./invoice.sh" "--all"]`
			if i == 1 {
				want = `["/bin/sh" "-c" "./invoice.sh \"$X\" -- y"]`
			}
			if got := fmt.Sprintf("%q", s.Target.Exec.Command); got != want {
				t.Errorf("%s %d: starts %s, want %s", mode, i, got, want)
			}
		}
	}
}

// The lines and commands that an import advises can be imported again.
func TestAdviceIsUnderstoodAgain(t *testing.T) {
	for _, fields := range []string{"0 2 * * *", "*/5 * * * *", "@daily"} {
		first := convertCrontab(t, fields+" /opt/it's.sh --all\n", CrontabOptions{Mode: ModeExternal})
		line := strings.TrimSpace(first.Schedules[0].Advice[1]) + "\n"
		for _, mode := range []Mode{ModeExec, ModeExternal} {
			again := convertCrontab(t, line, CrontabOptions{Mode: mode})
			s := one(t, again)
			if s.ID != first.Schedules[0].ID || len(again.Schedules[0].Advice) > 0 {
				t.Errorf("%q became %+v", line, again.Schedules[0])
			}
			if mode == ModeExec && !strings.Contains(s.Target.Exec.Command[2], "/opt/it") || mode == ModeExec && strings.Contains(s.Target.Exec.Command[2], "duly") {
				t.Errorf("%q starts %q", line, s.Target.Exec.Command)
			}
		}
	}
}

func TestOtherCommandsAreNotUnwrapped(t *testing.T) {
	for _, text := range []string{
		"duly exec", "duly exec -- x", "duly exec --tz UTC -- x", "duly lock a -- b", "echo duly exec a -- b", "duly exec a b",
		"cd /x && duly exec a -- b", "duly exec a -- ", "x -- y", "",
	} {
		if w, rest, ok := unwrapText(text); ok || rest != text {
			t.Errorf("%q was unwrapped to %+v, %q", text, w, rest)
		}
	}
	r := convertCrontab(t, "0 2 * * * cd /x && duly exec a -- b\n", CrontabOptions{})
	if !strings.Contains(fmt.Sprint(r.Notes), "take that out by hand") {
		t.Errorf("%v", r.Notes)
	}
	text := strings.Replace(manifest("0 2 * * *", "", ""), "command: [c]", `command: [sh, -c, "duly exec a -- b"]`, 1)
	r = convertManifest(text, KubernetesOptions{Mode: ModeExec})
	if !strings.Contains(fmt.Sprint(r.Notes), "take that out by hand") {
		t.Errorf("%v", r.Notes)
	}
}
