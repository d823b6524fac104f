package dulytest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Occurrence is one that assertions are made about. Each of them answers it
// again, so that several read as a sentence. What they say is of the moment at
// which the occurrence was looked up.
type Occurrence struct {
	duly.Occurrence
	d *Duly
}

// Occurrence looks up the occurrence of an ID, as in "invoices@2026-11-28". One
// that does not exist fails the test.
func (d *Duly) Occurrence(id string) *Occurrence {
	d.t.Helper()
	o, err := d.st.Occurrence(context.Background(), id)
	if duly.CodeOf(err) == duly.CodeNotFound {
		schedule, _, _ := duly.SplitOccurrenceID(id)
		d.t.Fatalf("there should be an occurrence %s, but there is none at %s; %s", id, d.clock(), d.has(schedule))
	} else {
		d.must(err)
	}
	return &Occurrence{o, d}
}

// has says which occurrences a schedule has.
func (d *Duly) has(schedule string) string {
	var names []string
	for _, o := range d.all(schedule) {
		names = append(names, o.Period+" ("+string(o.State)+")")
	}
	if len(names) == 0 {
		return schedule + " has none at all"
	}
	return schedule + " has " + strings.Join(names, ", ")
}

// all are a schedule's occurrences, the oldest first.
func (d *Duly) all(schedule string) (all []duly.Occurrence) {
	d.t.Helper()
	for page := (store.Page{Limit: 1000}); ; {
		some, next, err := d.st.Occurrences(context.Background(), store.OccurrenceFilter{Schedule: schedule}, page)
		d.must(err)
		all = append(all, some...)
		if page.Cursor = next; next == "" {
			slices.Reverse(all)
			return all
		}
	}
}

func (d *Duly) clock() string { return d.now.Format(time.RFC3339) }

// Periods are the periods of a schedule's occurrences, the oldest first.
func (d *Duly) Periods(schedule string) []string {
	d.t.Helper()
	var periods []string
	for _, o := range d.all(schedule) {
		periods = append(periods, o.Period)
	}
	return periods
}

// Ran asserts that just these periods of a schedule succeeded, in this order of
// their making.
func (d *Duly) Ran(schedule string, periods ...string) {
	d.t.Helper()
	var ran []string
	for _, o := range d.all(schedule) {
		if o.State == duly.Succeeded {
			ran = append(ran, o.Period)
		}
	}
	if !slices.Equal(ran, periods) {
		d.t.Errorf("%s should have succeeded for %s, but did for %s; %s", schedule, list(periods), list(ran), d.has(schedule))
	}
}

func list(periods []string) string {
	if len(periods) == 0 {
		return "no period"
	}
	return strings.Join(periods, ", ")
}

// NothingNeedsAttention asserts that no occurrence failed, was missed, or is
// uncertain.
func (d *Duly) NothingNeedsAttention() {
	d.t.Helper()
	all, _, err := d.st.Occurrences(context.Background(), store.OccurrenceFilter{Attention: true}, store.Page{})
	d.must(err)
	for _, o := range all {
		d.t.Errorf("nothing should need attention at %s, but %s", d.clock(), describe(&o))
	}
}

// describe tells the story of an occurrence.
func describe(o *duly.Occurrence) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s", o.ID, o.State)
	if o.Reason != "" {
		fmt.Fprintf(&b, " (%s)", o.Reason)
	}
	if o.State == duly.Pending && !o.NotBefore.IsZero() {
		fmt.Fprintf(&b, ", not before %s", o.NotBefore.Format(time.RFC3339))
	}
	for _, a := range o.Attempts {
		fmt.Fprintf(&b, "; attempt %d %s", a.Number, a.Outcome)
		if a.Error != "" {
			fmt.Fprintf(&b, ": %s", a.Error)
		}
	}
	return b.String()
}

func (o *Occurrence) want(ok bool, format string, args ...any) *Occurrence {
	o.d.t.Helper()
	if !ok {
		o.d.t.Errorf("%s should %s, but at %s %s", o.ID, fmt.Sprintf(format, args...), o.d.clock(), describe(&o.Occurrence))
	}
	return o
}

// Is asserts its state.
func (o *Occurrence) Is(state duly.State) *Occurrence {
	o.d.t.Helper()
	return o.want(o.State == state, "be %s", state)
}

// Succeeded asserts that it did.
func (o *Occurrence) Succeeded() *Occurrence {
	o.d.t.Helper()
	return o.want(o.State == duly.Succeeded, "have succeeded")
}

// Failed asserts that it did, for good.
func (o *Occurrence) Failed() *Occurrence {
	o.d.t.Helper()
	return o.want(o.State == duly.Failed, "have failed")
}

// AfterAttempts asserts how many attempts there were.
func (o *Occurrence) AfterAttempts(n int) *Occurrence {
	o.d.t.Helper()
	return o.want(len(o.Attempts) == n, "have had %d %s and not %d", n, plural(n, "attempt"), len(o.Attempts))
}

// Covers asserts for which periods it is.
func (o *Occurrence) Covers(periods ...string) *Occurrence {
	o.d.t.Helper()
	return o.want(slices.Equal(o.Occurrence.Covers, periods), "cover %s and not %s", list(periods), list(o.Occurrence.Covers))
}

// Created asserts how many effects its last attempt made.
func (o *Occurrence) Created(n int) *Occurrence {
	o.d.t.Helper()
	got := o.last().Effects.Created
	return o.want(got == n, "have made %d %s in its last attempt and not %d", n, plural(n, "effect"), got)
}

// Reused asserts how many effects its last attempt found done by an earlier one.
func (o *Occurrence) Reused(n int) *Occurrence {
	o.d.t.Helper()
	got := o.last().Effects.Reused
	return o.want(got == n, "have found %d %s done before in its last attempt and not %d", n, plural(n, "effect"), got)
}

// Effect asserts that the effect of a business key is on record for it, once.
func (o *Occurrence) Effect(key string) *Occurrence {
	o.d.t.Helper()
	n := 0
	var keys []string
	for _, e := range o.Effects {
		keys = append(keys, e.Key)
		if e.Key == key {
			n++
		}
	}
	if n == 1 {
		return o
	}
	return o.want(false, "have the effect %s once and not %d times (it has %v)", key, n, keys)
}

func (o *Occurrence) last() duly.Attempt {
	if len(o.Attempts) == 0 {
		return duly.Attempt{}
	}
	return o.Attempts[len(o.Attempts)-1]
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
