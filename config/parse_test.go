package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/config"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) *config.File {
	t.Helper()
	file, err := config.Parse("duly.yaml", []byte(text), environment)
	if err != nil {
		t.Fatalf("%v\n\nin:\n%s", err, text)
	}
	return file
}

// one wraps the keys of a schedule, indented by four, into a file.
func one(keys string) string {
	return "schedules:\n  s:\n" + keys
}

func TestTheDocumentedExampleLoadsAsItIs(t *testing.T) {
	file, err := config.Load("testdata/design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []duly.Schedule{{
		ID: "invoices", Timing: duly.Timing{Cron: "0 0 * * *"}, Timezone: "Europe/Berlin",
		Period: duly.PeriodDay, PeriodOffset: -1, Overlap: duly.OverlapWait,
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll, Window: duration(t, "7d")},
		Queue:   "billing", Lease: duration(t, "30s"), Timeout: duration(t, "10m"),
		Retry:   duly.Retry{MaxAttempts: 5, Backoff: duration(t, "10s"), MaxBackoff: duration(t, "10m")},
		Payload: json.RawMessage(`{"region":"eu"}`),
		Target:  duly.Target{Exec: &duly.ExecTarget{Command: []string{"./invoice.sh"}}},
	}}
	if diff := cmp.Diff(want, file.Schedules); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]duly.Queue{{Name: "billing", Concurrency: 1}}, file.Queues); diff != "" {
		t.Error(diff)
	}
	if len(file.Warnings) > 0 {
		t.Error(file.Warnings)
	}
}

func duration(t *testing.T, s string) duly.Duration {
	t.Helper()
	d, err := duly.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func loadFull(t *testing.T) *config.File {
	t.Helper()
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.Parse("testdata/full.yaml", data, environment)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheFullExampleLoads(t *testing.T) {
	file := loadFull(t)
	if len(file.Warnings) > 0 {
		t.Error(file.Warnings)
	}
	got, err := json.MarshalIndent(map[string]any{"schedules": file.Schedules, "queues": file.Queues, "calendars": file.Calendars}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/full.json", string(got)+"\n")
}

func TestADefinitionAsJSONReadsBackTheSame(t *testing.T) {
	file := loadFull(t)
	schedules, queues := map[string]duly.Schedule{}, map[string]duly.Queue{}
	for _, s := range file.Schedules {
		id := s.ID
		s.ID = ""
		schedules[id] = s
	}
	for _, q := range file.Queues {
		name := q.Name
		q.Name = ""
		queues[name] = q
	}
	data, err := json.Marshal(map[string]any{"schedules": schedules, "queues": queues})
	if err != nil {
		t.Fatal(err)
	}
	// What looks like a placeholder in a value has to be escaped in a file.
	text := strings.ReplaceAll(string(data), "${", "$${")
	again := parse(t, text)
	byID := map[string]duly.Schedule{}
	for _, s := range again.Schedules {
		byID[s.ID] = s
	}
	for _, want := range file.Schedules {
		if diff := cmp.Diff(want, byID[want.ID]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.ID, diff)
		}
	}
	if diff := cmp.Diff(file.Queues, again.Queues); diff != "" {
		t.Error(diff)
	}
}

func TestSchedulesStayInTheOrderOfTheFile(t *testing.T) {
	var text strings.Builder
	text.WriteString("schedules:\n")
	var want []string
	for i := range 50 {
		id := fmt.Sprintf("s%d", i*7919%50)
		want = append(want, id)
		fmt.Fprintf(&text, "  %s: { every: 1h, target: { handler: h } }\n", id)
	}
	var got []string
	for _, s := range parse(t, text.String()).Schedules {
		got = append(got, s.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPayloadKeepsEveryDigitAndCharacter(t *testing.T) {
	for _, c := range []struct{ yaml, json string }{
		{"12345678901234567890123", "12345678901234567890123"},
		{"-9007199254740993", "-9007199254740993"},
		{"0.10", "0.10"},
		{"1e400", "1e400"},
		{"1.5E-7", "1.5E-7"},
		{"+5", "5"},
		{".5", "0.5"},
		{"-.5", "-0.5"},
		{"5.", "5.0"},
		{"-0", "-0"},
		{"0", "0"},
		{"00.5", "0.5"},
		{"0x1F", "31"},
		{"0xffffffffffffffffffff", "1208925819614629174706175"},
		{"0o17", "15"},
		{"true", "true"},
		{"False", "false"},
		{"~", "null"},
		{"", "null"},
		{"yes", `"yes"`},
		{"on", `"on"`},
		{"12:30", `"12:30"`},
		{"2026-11-28", `"2026-11-28"`},
		{"1.2.3", `"1.2.3"`},
		{`"007"`, `"007"`},
		{"!!str 7", `"7"`},
		{"<b> & é 😀", `"<b> & é 😀"`},
		{`"\ud83d\ude00 \u003c\/\t\""`, `"😀 </\t\""`},
		{"'it''s'", `"it's"`},
		{"|\n      two\n      lines\n", `"two\nlines\n"`},
		{"{ b: 1, a: { d: [], c: {} } }", `{"a":{"c":{},"d":[]},"b":1}`},
		{"[1, [2.0, ~], x]", `[1,[2.0,null],"x"]`},
		{"{ a: }", `{"a":null}`},
		{"${env:INVOICE_KEY}", `"0123456789"`},
		{`["$${env:X} $$ $5 $", "a${env:EMPTY}b"]`, `["${env:X} $$ $5 $","ab"]`},
	} {
		s := parse(t, one("    every: 1h\n    target: { handler: h }\n    payload: "+c.yaml+"\n")).Schedules[0]
		if string(s.Payload) != c.json {
			t.Errorf("payload: %s became %s, not %s", c.yaml, s.Payload, c.json)
		}
	}
}

func TestDefaultsYieldToWhatAScheduleSays(t *testing.T) {
	file := parse(t, `
defaults:
  timezone: Europe/Berlin
  lease: 1m
  queue: shared
  retry: { max_attempts: 3, backoff: 5s }
  catch_up: { policy: all, window: 7d }
  target: { exec: { command: [./a], dir: /srv } }
  payload: { a: 1, b: 2 }
queues: { shared: {} }
schedules:
  plain: { every: 1h }
  own:
    every: 1h
    timezone: UTC
    queue: null
    retry: { backoff: 9s }
    catch_up: null
    target: { exec: { command: [./b] } }
    payload: { c: 3 }
`)
	want := []duly.Schedule{{
		ID: "plain", Timing: duly.Timing{Every: duration(t, "1h")}, Timezone: "Europe/Berlin", Lease: duration(t, "1m"), Queue: "shared",
		Retry:   duly.Retry{MaxAttempts: 3, Backoff: duration(t, "5s")},
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll, Window: duration(t, "7d")},
		Target:  duly.Target{Exec: &duly.ExecTarget{Command: []string{"./a"}, Dir: "/srv"}},
		Payload: json.RawMessage(`{"a":1,"b":2}`),
	}, {
		ID: "own", Timing: duly.Timing{Every: duration(t, "1h")}, Timezone: "UTC", Lease: duration(t, "1m"),
		Retry:   duly.Retry{MaxAttempts: 3, Backoff: duration(t, "9s")},
		Target:  duly.Target{Exec: &duly.ExecTarget{Command: []string{"./b"}}},
		Payload: json.RawMessage(`{"c":3}`),
	}}
	if diff := cmp.Diff(want, file.Schedules); diff != "" {
		t.Error(diff)
	}
}

func TestAnchorsAndMergeKeysMeanWhatTheyMeanInYAML(t *testing.T) {
	file := parse(t, `
x-times: &times { every: 1h, lease: 1m }
x-more: &more { lease: 2m, timeout: 5m }
schedules:
  a: &a { <<: *times, target: { handler: h } }
  b: { <<: [*times, *more], lease: 3m, target: { handler: h } }
  c: *a
  d:
    <<: { <<: *more, every: 2h }
    target: { handler: &name h }
    description: *name
`)
	target := duly.Target{Handler: "h"}
	hour := duly.Timing{Every: duration(t, "1h")}
	want := []duly.Schedule{
		{ID: "a", Timing: hour, Lease: duration(t, "1m"), Target: target},
		{ID: "b", Timing: hour, Lease: duration(t, "3m"), Timeout: duration(t, "5m"), Target: target},
		{ID: "c", Timing: hour, Lease: duration(t, "1m"), Target: target},
		{ID: "d", Description: "h", Timing: duly.Timing{Every: duration(t, "2h")}, Lease: duration(t, "2m"), Timeout: duration(t, "5m"), Target: target},
	}
	if diff := cmp.Diff(want, file.Schedules); diff != "" {
		t.Error(diff)
	}
}

func TestACalendarIsCopiedIntoEachScheduleThatNamesIt(t *testing.T) {
	file := parse(t, `
calendars:
  bank: { holidays: [2026-12-25, 2026-12-24, 2026-12-25], weekdays: [mon, tue] }
schedules:
  a: { every: 1h, target: { handler: h }, calendar: bank }
  b: { every: 1h, target: { handler: h }, calendar: { name: bank, otherwise: next } }
  c: { every: 1h, target: { handler: h }, calendar: { name: for people, holidays: [2026-12-25] } }
  d: { every: 1h, target: { handler: h }, calendar: { otherwise: previous } }
`)
	days, week := []string{"2026-12-24", "2026-12-25"}, []string{"mon", "tue"}
	want := []*duly.CalendarRule{
		{Name: "bank", Weekdays: week, Holidays: days},
		{Name: "bank", Weekdays: week, Holidays: days, Otherwise: "next"},
		{Name: "for people", Holidays: []string{"2026-12-25"}},
		{Otherwise: "previous"},
	}
	for i, s := range file.Schedules {
		if diff := cmp.Diff(want[i], s.Calendar); diff != "" {
			t.Errorf("%s: %s", s.ID, diff)
		}
	}
	file.Schedules[0].Calendar.Holidays[0] = "changed"
	if file.Schedules[1].Calendar.Holidays[0] == "changed" {
		t.Error("two schedules share the days of a calendar")
	}
}

func TestAnICSFileGivesHolidaysForFixedYears(t *testing.T) {
	folder := t.TempDir()
	event := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//example//EN\r\nBEGIN:VEVENT\r\nUID:1@example.com\r\nDTSTAMP:20200101T000000Z\r\nDTSTART;VALUE=DATE:20051225\r\n%sEND:VEVENT\r\nEND:VCALENDAR\r\n"
	for name, rule := range map[string]string{"once.ics": "", "yearly.ics": "RRULE:FREQ=YEARLY\r\n"} {
		if err := os.WriteFile(folder+"/"+name, fmt.Appendf(nil, event, rule), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file, err := config.Parse(folder+"/duly.yaml", []byte(`
schedules: { s: { every: 1h, target: { handler: h }, calendar: yearly } , t: { every: 1h, target: { handler: h }, calendar: both } }
calendars: { yearly: { ics: yearly.ics, holidays: [2026-12-25, 2019-01-01] }, both: { ics: [once.ics, "${env:PATH_OF_ICS}"] } }
`), func(string) (string, bool) { return folder + "/once.ics", true })
	if err != nil {
		t.Fatal(err)
	}
	yearly := file.Schedules[0].Calendar.Holidays
	if len(yearly) != 52 || yearly[0] != "2019-01-01" || yearly[1] != "2020-12-25" || yearly[51] != "2070-12-25" {
		t.Errorf("yearly: %d days: %v", len(yearly), yearly)
	}
	if diff := cmp.Diff([]string{"2005-12-25"}, file.Schedules[1].Calendar.Holidays); diff != "" {
		t.Error(diff)
	}
}

func TestLineEndsAndAByteOrderMarkDoNotMatter(t *testing.T) {
	text := one("    cron: \"0 0 * * *\"\n    target: { handler: h }\n    overlap: nope\n")
	_, unix := config.Parse("duly.yaml", []byte(text), nil)
	_, windows := config.Parse("duly.yaml", []byte("\ufeff"+strings.ReplaceAll(text, "\n", "\r\n")), nil)
	if unix == nil || windows == nil || unix.Error() != windows.Error() {
		t.Errorf("unix: %v\nwindows: %v", unix, windows)
	}
}

func TestLoadSaysWhatIsWrongWithTheFileItself(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		path string
		code duly.Code
	}{
		{folder + "/missing.yaml", duly.CodeNotFound},
		{folder, duly.CodeInvalid},
		{large(t, folder), duly.CodeInvalid},
	} {
		_, err := config.Load(c.path)
		if duly.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: code %q: %v", c.path, duly.CodeOf(err), err)
		}
	}
}

func large(t *testing.T, folder string) string {
	t.Helper()
	path := folder + "/large.yaml"
	if err := os.WriteFile(path, make([]byte, 9<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
