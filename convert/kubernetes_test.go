package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
)

func convertManifest(text string, opt KubernetesOptions) *Result {
	return Kubernetes([]Source{{Name: "manifest", Data: []byte(text)}}, opt)
}

// manifest is a CronJob with lines of its spec and of its job's spec.
func manifest(schedule, spec, job string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: CronJob
metadata: { name: x, namespace: n }
spec:
  schedule: %q
  %s
  jobTemplate:
    spec:
      %s
      template: { spec: { containers: [{ name: c, command: [c] }] } }
`, schedule, spec, job)
}

func one(t *testing.T, r *Result) duly.Schedule {
	t.Helper()
	if len(r.Schedules) != 1 {
		t.Fatalf("%d schedules: %v", len(r.Schedules), r.Notes)
	}
	return r.Schedules[0].Schedule
}

func TestPoliciesOfACronJobBecomeThoseOfASchedule(t *testing.T) {
	for _, c := range []struct {
		spec, job string
		want      duly.Schedule
	}{
		{want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 7}}},
		{spec: "concurrencyPolicy: Allow", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 7}}},
		{spec: "concurrencyPolicy: Forbid", want: duly.Schedule{Overlap: duly.OverlapSkip, Retry: duly.Retry{MaxAttempts: 7}}},
		{spec: "concurrencyPolicy: Replace", want: duly.Schedule{Overlap: duly.OverlapReplace, Retry: duly.Retry{MaxAttempts: 7}}},
		{spec: "startingDeadlineSeconds: 90", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 7}, StartDeadline: duly.Duration(90 * time.Second)}},
		{spec: "startingDeadlineSeconds: null", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 7}}},
		{job: "backoffLimit: 0", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 1}}},
		{job: "backoffLimit: 4", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 5}}},
		{job: "backoffLimit: 2147483647", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 10_000}}},
		{job: "activeDeadlineSeconds: 600", want: duly.Schedule{Overlap: duly.OverlapAllow, Retry: duly.Retry{MaxAttempts: 7}, Timeout: duly.Duration(10 * time.Minute)}},
	} {
		s := one(t, convertManifest(manifest("0 1 * * *", c.spec, c.job), KubernetesOptions{Mode: ModeExec}))
		got := duly.Schedule{Overlap: s.Overlap, Retry: s.Retry, StartDeadline: s.StartDeadline, Timeout: s.Timeout}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s %s:\n got %+v\nwant %+v", c.spec, c.job, got, c.want)
		}
	}
}

func TestASuspendedCronJobSaysHowToPause(t *testing.T) {
	for value, want := range map[string]int{"true": 1, "false": 0, `"true"`: 0, "null": 0} {
		r := convertManifest(manifest("0 1 * * *", "suspend: "+value, ""), KubernetesOptions{})
		one(t, r)
		if got := strings.Count(fmt.Sprint(r.Notes), "duly schedules pause n/x "); got != want {
			t.Errorf("suspend: %s: %v", value, r.Notes)
		}
	}
}

// robfig's rules, which Kubernetes has: a star without a step frees a day
// field, and a step may follow a single value.
func TestSchedulesMeanWhatTheyMeanToKubernetes(t *testing.T) {
	for in, want := range map[string]string{
		"0 9 * * 1":           "0 9 * * 1",
		"0 9 ? * MON-FRI":     "0 9 * * MON-FRI",
		"? ? ? ? ?":           "* * * * *",
		"0 9 */1 * 1":         "0 9 * * 1",
		"0 9 */01 * 1":        "0 9 * * 1",
		"0 9 */2 * 1":         "0 9 */2 * 1", // either matches
		"0 9 1,* * 1":         "0 9 * * 1",
		"0 9 1-31 * 1":        "0 9 * * *", // either matches
		"5/20 * * * *":        "5/20 * * * *",
		"*/90 * * * *":        "0 * * * *",
		"0 0 1 JAN,jul *":     "0 0 1 JAN,jul *",
		"  0\t0  * * *  ":     "0 0 * * *",
		"@daily":              "@daily",
		"TZ=UTC 0 0 * * *":    "0 0 * * *",
		"CRON_TZ=UTC @hourly": "@hourly",
	} {
		s := one(t, convertManifest(manifest(in, "", ""), KubernetesOptions{Mode: ModeExec}))
		if s.Cron != want || len(s.Except)+len(s.Timings) > 0 {
			t.Errorf("%q became %+v except %v, want %q", in, s.Timing, s.Except, want)
		}
	}
	for _, in := range []string{"0 9 * * 7", "0 0 30 2 *", "0 0 * * * *", "0 9 * *", "5-1 * * * *", "@reboot", "@Daily", "@every 1ms", "L * * * *", "0 9 */0 * *", "TZ=Mars/Olympus 0 0 * * *", "H * * * *", "-1 * * * *"} {
		r := convertManifest(manifest(in, "", ""), KubernetesOptions{Mode: ModeExec})
		if len(r.Schedules) != 0 || r.Count(Wrong) != 1 || r.Notes[0].Line != 5 && r.Notes[0].Line != 1 {
			t.Errorf("%q was converted: %v", in, r.Notes)
		}
	}
}

func TestAnExternalScheduleIsNamedByALongEnoughPeriod(t *testing.T) {
	for in, want := range map[string]duly.PeriodUnit{
		"30 2 * * *": duly.PeriodDay, "@monthly": duly.PeriodDay, "0 0 1 1 1": duly.PeriodDay, "*/60 5 * * *": duly.PeriodDay,
		"30 * * * *": duly.PeriodHour, "0 */6 * * *": duly.PeriodHour, "@hourly": duly.PeriodHour, "5 1,13 * * *": duly.PeriodHour,
		"*/5 * * * *": duly.PeriodInstant, "0,30 5 * * *": duly.PeriodInstant, "@every 24h": duly.PeriodInstant,
	} {
		s := one(t, convertManifest(manifest(in, "timeZone: Europe/Berlin", ""), KubernetesOptions{}))
		if !s.External || s.Period != want || s.Timezone != "Europe/Berlin" || !s.Timing.IsZero() {
			t.Errorf("%q: external %v, period %s in %s, timing %+v; want %s", in, s.External, s.Period, s.Timezone, s.Timing, want)
		}
	}
}

func TestNamespacesOfTheManifestCountMore(t *testing.T) {
	text := manifest("0 1 * * *", "", "") + "---\n" + strings.Replace(manifest("0 1 * * *", "", ""), ", namespace: n", "", 1)
	r := convertManifest(text, KubernetesOptions{Namespace: "given"})
	if len(r.Schedules) != 2 || r.Schedules[0].ID != "n/x" || r.Schedules[1].ID != "given/x" {
		t.Errorf("%+v %v", r.Schedules, r.Notes)
	}
	r = convertManifest(text, KubernetesOptions{})
	if len(r.Schedules) != 2 || r.Schedules[1].ID != "x" {
		t.Errorf("%+v %v", r.Schedules, r.Notes)
	}
}

func TestReferencesAreFilledInAsKubernetesDoes(t *testing.T) {
	env := environment{
		literal: map[string]string{"A": "a", "EMPTY": "", "DOLLAR": "$(A)"},
		unknown: map[string]bool{"SECRET": true},
	}
	for in, want := range map[string]string{
		"": "", "plain": "plain", "$(A)": "a", "x$(A)y$(A)": "xaya", "$(EMPTY)": "", "$(DOLLAR)": "$(A)",
		"$$(A)": "$(A)", "$$$(A)": "$a", "$$$$(A)": "$$(A)", "$": "$", "$$": "$", "a$": "a$", "$A": "$A", "${A}": "${A}",
		"$(": "$(", "$(A": "$(A", "$()": "$()", "$(UNSET)": "$(UNSET)", "$(SECRET)!": "$(SECRET)!", "$(A)$": "a$",
	} {
		var unknown []string
		got := env.expand(in, func(name string) { unknown = append(unknown, name) })
		if got != want || slices.Contains(unknown, "SECRET") != strings.Contains(in, "SECRET") || len(unknown) > 1 {
			t.Errorf("%q becomes %q, want %q; unknown %q", in, got, want, unknown)
		}
	}
}

func TestALaterVariableReplacesAnEarlierOne(t *testing.T) {
	text := strings.Replace(manifest("0 1 * * *", "", ""), "command: [c]", `command: [c, "$(A)$(B)"], env: [
		{ name: A, value: one }, { name: B, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }, { name: B, value: two },
		{ name: C, value: $(A) }, { name: A, valueFrom: { secretKeyRef: { name: s, key: k } } }, { name: D }]`, 1)
	text = strings.ReplaceAll(text, "\t", "  ")
	r := convertManifest(text, KubernetesOptions{Mode: ModeExec})
	exec := one(t, r).Target.Exec
	if !maps.Equal(exec.Env, map[string]string{"B": "two", "C": "one", "D": ""}) || exec.Command[1] != "$(A)two" {
		t.Errorf("%q in %v", exec.Command, exec.Env)
	}
	if !strings.Contains(fmt.Sprint(r.Notes), "the command uses $(A)") {
		t.Errorf("%v", r.Notes)
	}
}

func TestADeepOrEndlessDocumentIsRefused(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 100_000), strings.Repeat("{a: ", 1000), "a: " + strings.Repeat("- ", 1000) + "b",
		"a: &a [*a]\nkind: CronJob\n", "kind: *none\n", "<<: {kind: CronJob}\n", strings.Repeat("\n", maxSource+1), "\xff",
	} {
		r := convertManifest(text, KubernetesOptions{})
		if len(r.Schedules) != 0 || r.Count(Wrong) == 0 {
			t.Errorf("%.20q: %v", text, r.Notes)
		}
	}
}
