package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

// scale: what many schedules that are not due cost. It looks at a server in a
// process of its own, since the one that made the schedules has seen them all,
// and then at how long it takes to fire a thousand beside them.
func scale(ctx context.Context, o *Options) error {
	few := min(10_000, o.Schedules)
	fewFire, err := fireBeside(ctx, o, few)
	if err != nil {
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
	manyFire, err := fireThousand(ctx, st)
	if err != nil {
		return err
	}
	o.report("fire_1000_p50", ms(fewFire), "ms", "1000 due beside %d schedules, fired and claimed in one step", few)
	o.report("fire_1000_p50_full", ms(manyFire), "ms", "1000 due beside %d schedules, fired and claimed in one step", o.Schedules)
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

// fireBeside is fireThousand in a new store with idle schedules.
func fireBeside(ctx context.Context, o *Options, idle int) (time.Duration, error) {
	st, _, err := o.Fresh(ctx)
	if err != nil {
		return 0, err
	}
	defer st.Close()
	if err := create(ctx, st, time.Time{}, idle, yearly()); err != nil {
		return 0, err
	}
	return fireThousand(ctx, st)
}

// fireThousand is the median of how long it takes to fire and claim a thousand
// schedules that come due in the same minute.
func fireThousand(ctx context.Context, st store.Store) (time.Duration, error) {
	const due, rounds = 1000, 41
	every := duly.Schedule{Timing: duly.Timing{Every: duly.Duration(time.Minute)}, Target: duly.Target{Handler: "noop"}}
	every.ID = "x"
	p, faults := plan.Compile(every)
	if len(faults) > 0 {
		return 0, faults[0]
	}
	now := time.Now().Truncate(time.Second)
	defs := make([]store.Definition, due)
	for i := range defs {
		every.ID = fmt.Sprintf("due/%04d", i)
		defs[i] = store.Definition{Schedule: every, Next: p.Next}
	}
	if _, err := st.Apply(ctx, store.ApplyRequest{Now: now, Owner: "due", By: "bench", Schedules: defs}); err != nil {
		return 0, err
	}
	decide := func(now time.Time, due []store.DueSchedule) []store.Firing {
		firings := make([]store.Firing, len(due))
		for i, d := range due {
			firings[i] = plan.Decide(now, d, func(int64) *plan.Plan { return p })
		}
		return firings
	}
	var took []time.Duration
	for range rounds {
		now = now.Add(time.Minute)
		start := time.Now()
		res, err := st.Fire(ctx, store.FireRequest{Now: now, Plan: decide, Claim: &store.ClaimRequest{Max: due, Capabilities: []string{"handler:noop"}}})
		if err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
		if len(res.Claims) != due {
			return 0, fmt.Errorf("%d of %d were claimed", len(res.Claims), due)
		}
		reports := make([]store.Report, due)
		for i, c := range res.Claims {
			reports[i] = store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}
		}
		if _, err := st.Finish(ctx, 0, reports); err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[rounds/2], nil
}
