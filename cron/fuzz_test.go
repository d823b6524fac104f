package cron_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/duly-dev/duly/cron"
)

// FuzzParse: whatever the text, an answer comes quickly; what is refused says
// where and why, and what is accepted reads the same when written out.
func FuzzParse(f *testing.F) {
	for _, c := range readCorpus(f, "cron.jsonl") {
		f.Add(c.Expr, c.Mode == "and")
	}
	for _, c := range readCorpus(f, "cron-invalid.jsonl") {
		f.Add(c.Expr, false)
	}
	f.Fuzz(func(t *testing.T, text string, and bool) {
		o := cron.Options{DayAnd: and}
		start := time.Now()
		e, err := cron.ParseWith(text, o)
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%q took %v", text, took)
		}
		if err != nil {
			var refused *cron.ParseError
			if !errors.As(err, &refused) || refused.Expr != text || refused.Reason == "" || refused.Message == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			if refused.Column < 1 || refused.Column > len(text)+1 {
				t.Fatalf("%q: column %d", text, refused.Column)
			}
			return
		}
		again, err := cron.ParseWith(e.String(), o)
		if err != nil || again.String() != e.String() {
			t.Fatalf("%q reads %q, which reads %v, %v", text, e, again, err)
		}
		if !slices.Equal(again.Warnings(), e.Warnings()) || again.OncePerDay() != e.OncePerDay() || again.Elapsed() != e.Elapsed() {
			t.Fatalf("%q and %q differ", text, e)
		}
		from := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
		a, b := e.In(nil, cron.DST{}), again.In(nil, cron.DST{})
		if x, y := forward(a, from, 3), forward(b, from, 3); !slices.Equal(x, y) {
			t.Fatalf("%q gives %v, %q gives %v", text, x, e, y)
		}
		if got := forward(a, time.Time{}, 1); len(got) == 0 {
			t.Fatalf("%q is accepted and never due", text)
		}
	})
}

// FuzzNext: forwards, backwards and by windows the same instants come out, in
// order and in whole seconds.
func FuzzNext(f *testing.F) {
	for _, c := range readCorpus(f, "cron.jsonl") {
		f.Add(c.Expr, c.TZ, c.From.Unix(), c.From.Nanosecond(), uint8(len(c.ID)))
	}
	gaps := []cron.Gap{cron.GapNext, cron.GapShift, cron.GapSkip}
	overlaps := []cron.Overlap{cron.OverlapFirst, cron.OverlapLast, cron.OverlapBoth}
	f.Fuzz(func(t *testing.T, text, zone string, sec int64, nanos int, policies uint8) {
		e, err := cron.ParseWith(text, cron.Options{DayAnd: policies >= 128})
		if err != nil {
			return // no input that there is anything to say of
		}
		loc, err := cron.LoadZone(zone)
		if err != nil {
			return // no input that there is anything to say of
		}
		s := e.In(loc, cron.DST{Gap: gaps[policies%3], Overlap: overlaps[policies/3%3]})
		from := time.Unix(sec, int64(uint32(nanos)%1e9))

		start := time.Now()
		var due []time.Time
		for at, ok := s.Next(from); ok && len(due) < 20; at, ok = s.Next(at) {
			last := from
			if len(due) > 0 {
				last = due[len(due)-1]
			}
			if !at.After(last) || at.Nanosecond() != 0 || at.Location() != time.UTC || at.Year() > 9999 {
				t.Fatalf("%q in %s: next after %v is %v", text, zone, last, at)
			}
			due = append(due, at)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("%q in %s took %v", text, zone, took)
		}
		if len(due) == 0 {
			if at, ok := s.Prev(time.Unix(1<<60, 0)); ok && at.After(from) {
				t.Fatalf("%q in %s: nothing after %v, but %v", text, zone, from, at)
			}
			return
		}
		before, had := s.Prev(from)
		for i, at := range due {
			if back, ok := s.Prev(at.Add(1)); !ok || !back.Equal(at) {
				t.Fatalf("%q in %s: prev just after %v is %v", text, zone, at, back)
			}
			want, ok := before, had
			if i > 0 {
				want, ok = due[i-1], true
			} else if !from.Before(at) {
				t.Fatalf("%v is not before %v", from, at)
			}
			// The instant before the first one may be from itself.
			got, found := s.Prev(at)
			if i == 0 && found && got.Equal(from) {
				continue
			}
			if found != ok || found && !got.Equal(want) {
				t.Fatalf("%q in %s: prev before %v is %v, want %v", text, zone, at, got, want)
			}
		}
		listed := slices.Collect(cron.Between(s, from, due[len(due)-1]))
		if !slices.EqualFunc(listed, due, time.Time.Equal) {
			t.Fatalf("%q in %s: listed %v, stepped %v", text, zone, listed, due)
		}
	})
}
