package dulytest

import (
	"context"
	"math"
	"time"

	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// maxSteps is how many steps may follow each other without time passing.
const maxSteps = 100_000

// noJitter is the dice of backoffs: just what the schedule names.
var noJitter = math.Nextafter(1, 0)

// Now is what the clock says.
func (d *Duly) Now() time.Time { return d.now }

// At moves the clock to an instant (RFC 3339, as in 2026-11-28T00:00:00+01:00),
// doing on the way what comes due. Before anything was declared it may be set
// to any instant; after that it goes forward only.
func (d *Duly) At(instant string) {
	d.t.Helper()
	at, err := time.Parse(time.RFC3339, instant)
	switch {
	case err != nil:
		d.t.Fatalf("dulytest: At wants an instant such as 2026-11-28T00:00:00+01:00, not %q", instant)
	case d.session == 0:
		d.now = at.UTC()
	case at.Before(d.now):
		d.t.Fatalf("dulytest: it is %s, and time does not go back to %s", d.now.Format(time.RFC3339), instant)
	default:
		d.Advance(at.Sub(d.now))
	}
}

// Advance lets time pass. What comes due meanwhile is made, claimed, worked on
// and tried again at its own time, as if a node had been there all along. With 0
// it does what is due now.
func (d *Duly) Advance(by time.Duration) {
	d.t.Helper()
	if d.inside {
		d.t.Fatalf("dulytest: a handler cannot move time; say how long it takes with Takes")
		return
	}
	d.join()
	d.pass(by, d.work)
}

// Outage lets time pass while no node is there: nothing is made or worked on,
// and what an attempt was at is lost with it. What comes due meanwhile is caught
// up by the next Advance, as the schedule says.
func (d *Duly) Outage(by time.Duration) {
	d.t.Helper()
	d.join()
	d.running = nil
	d.now = d.now.Add(by)
}

// pass moves the clock from one thing to do to the next.
func (d *Duly) pass(by time.Duration, work func() (next time.Time)) {
	until := d.now.Add(by)
	for {
		next := work()
		if next.IsZero() || next.After(until) {
			break
		}
		d.now = next
	}
	d.now = until
}

// work does all that is to be done now, and answers when there is more.
func (d *Duly) work() time.Time {
	d.t.Helper()
	ctx := context.Background()
	for range maxSteps {
		if d.report() {
			continue
		}
		h, err := d.st.Horizon(ctx)
		d.must(err)
		came := func(t time.Time) bool { return !t.IsZero() && !t.After(h.Now) }
		switch {
		case came(h.Due):
			_, err := d.st.Fire(ctx, store.FireRequest{Node: d.session, Plan: d.plan})
			d.must(err)
		case came(h.Lease):
			d.reap()
		case came(h.Ready) && d.claim():
		default:
			return d.next(h)
		}
	}
	d.t.Fatalf("dulytest: %d steps and no time has passed; something is due again and again at %s", maxSteps, d.now.Format(time.RFC3339))
	return time.Time{}
}

// next is the first instant after now at which there is something to do.
func (d *Duly) next(h store.Horizon) (next time.Time) {
	all := []time.Time{h.Due, h.Ready, h.Lease}
	for _, a := range d.running {
		all = append(all, a.until, a.renewAt)
	}
	for _, t := range all {
		if t.After(d.now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}

func (d *Duly) plan(now time.Time, due []store.DueSchedule) []store.Firing {
	all := make([]store.Firing, len(due))
	for i, s := range due {
		all[i] = plan.Decide(now, s, d.compiled)
	}
	return all
}

// compiled is the plan of a stored definition.
func (d *Duly) compiled(definition int64) *plan.Plan {
	p, err := d.plans.Get(context.Background(), definition)
	d.must(err)
	return p
}

func (d *Duly) reap() {
	d.t.Helper()
	_, err := d.st.Reap(context.Background(), store.ReapRequest{Decide: func(e store.Expired) store.Next {
		return plan.Expired(d.compiled(e.Definition), e, noJitter)
	}})
	d.must(err)
}
