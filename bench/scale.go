package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// scale: what many schedules that are not due cost. It looks at a server in a
// process of its own, since the one that made the schedules has seen them all,
// and then at how long it takes to fire a thousand beside them.
func scale(ctx context.Context, o *Options) error {
	const few = 10_000
	beside, _, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer beside.Close()
	if err := create(ctx, beside, time.Time{}, few, yearly()); err != nil {
		return err
	}
	st, url, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer func() { st.Close() }()
	start := time.Now()
	if err := create(ctx, st, time.Time{}, o.Schedules, yearly()); err != nil {
		return err
	}
	o.report("applied_per_s", float64(o.Schedules)/time.Since(start).Seconds(), "1/s", "%d schedules applied, %d in a transaction", o.Schedules, applied)
	if len(o.Serve) > 0 {
		if err := st.Close(); err != nil {
			return err
		}
		if err := idle(ctx, o, url); err != nil {
			return err
		}
		if st, err = store.Open(ctx, url, store.Options{}); err != nil {
			return err
		}
	}
	fewFire, manyFire, err := fireThousands(ctx, beside, st)
	if err != nil {
		return err
	}
	o.report("fire_1000_p50_few", ms(fewFire), "ms", "1000 due beside %d schedules, fired and claimed in one step", few)
	o.report("fire_1000_p50", ms(manyFire), "ms", "1000 due beside %d schedules, in turns with that", o.Schedules)
	o.report("fire_1000_ratio", float64(manyFire)/float64(fewFire), "", "of these two")
	return nil
}

func yearly() duly.Schedule {
	return duly.Schedule{Timing: duly.Timing{Cron: "0 0 1 1 *"}, Target: duly.Target{Handler: "noop"}}
}

// idle measures a server on a store whose schedules are not due.
func idle(ctx context.Context, o *Options, url string) error {
	emptyURL, err := freshURL(ctx, o)
	if err != nil {
		return err
	}
	empty, err := idleServer(ctx, o, emptyURL)
	if err != nil {
		return err
	}
	full, err := idleServer(ctx, o, url)
	if err != nil {
		return err
	}
	o.report("ready_s", full.ready.Seconds(), "s", "a server with %d schedules, from its start until it has done what was due", o.Schedules)
	o.report("resident_mb", float64(full.rss)/(1<<20), "MB", "server with %d schedules that are not due", o.Schedules)
	o.report("bytes_per_schedule", float64(full.rss-empty.rss)/float64(o.Schedules), "B", "resident memory beyond that of a server with none (%d MB)", empty.rss>>20)
	o.report("idle_cpu", 100*full.cpu, "% of a core", "server with %d schedules that are not due, over 20 s", o.Schedules)
	return nil
}

// freshURL makes an empty store and closes it.
func freshURL(ctx context.Context, o *Options) (string, error) {
	st, url, err := o.Fresh(ctx)
	if err != nil {
		return "", err
	}
	return url, st.Close()
}

// fireThousands measures thousands in two stores in turns, so that both see the
// same machine, and answers the median of each.
func fireThousands(ctx context.Context, a, b store.Store) (p50A, p50B time.Duration, err error) {
	var all [2]*thousand
	for i, st := range []store.Store{a, b} {
		if all[i], err = newThousand(ctx, st); err != nil {
			return 0, 0, err
		}
	}
	const rounds, warm = 41, 3
	for range warm + rounds {
		for _, t := range all {
			if err := t.round(ctx); err != nil {
				return 0, 0, err
			}
		}
	}
	p50A, _ = quantiles(all[0].took[warm:])
	p50B, _ = quantiles(all[1].took[warm:])
	return p50A, p50B, nil
}

// thousand is a thousand schedules that come due every minute, as a store is
// told it.
type thousand struct {
	st   store.Store
	now  time.Time
	plan *plan.Plan
	took []time.Duration // to fire and claim them
}

const due = 1000

func newThousand(ctx context.Context, st store.Store) (*thousand, error) {
	every := duly.Schedule{ID: "x", Timing: duly.Timing{Every: duly.Duration(time.Minute)}, Target: duly.Target{Handler: "noop"}}
	p, faults := plan.Compile(every)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	t := &thousand{st: st, now: time.Now().Truncate(time.Second), plan: p}
	defs := make([]store.Definition, due)
	for i := range defs {
		every.ID = fmt.Sprintf("due/%04d", i)
		defs[i] = store.Definition{Schedule: every, Next: p.Next}
	}
	_, err := st.Apply(ctx, store.ApplyRequest{Now: t.now, Owner: "due", By: "bench", Schedules: defs})
	return t, err
}

func (t *thousand) decide(now time.Time, due []store.DueSchedule) []store.Firing {
	firings := make([]store.Firing, len(due))
	for i, d := range due {
		firings[i] = plan.Decide(now, d, func(int64) *plan.Plan { return t.plan })
	}
	return firings
}

// round fires, claims and finishes them once.
func (t *thousand) round(ctx context.Context) error {
	t.now = t.now.Add(time.Minute)
	start := time.Now()
	res, err := t.st.Fire(ctx, store.FireRequest{Now: t.now, Plan: t.decide, Claim: &store.ClaimRequest{Max: due, Capabilities: []string{"handler:noop"}}})
	if err != nil {
		return err
	}
	t.took = append(t.took, time.Since(start))
	if len(res.Claims) != due {
		return fmt.Errorf("%d of %d were claimed", len(res.Claims), due)
	}
	reports := make([]store.Report, due)
	for i, c := range res.Claims {
		reports[i] = store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
	}
	_, err = t.st.Finish(ctx, 0, reports)
	return err
}
