package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/store/storetest"
	"github.com/duly-dev/duly/target"
)

// diary notes what handlers were given.
type diary struct {
	mu    sync.Mutex
	given []target.Assignment
	at    []time.Time
}

func (d *diary) note(occ *node.Occurrence) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.given, d.at = append(d.given, occ.Assignment), append(d.at, time.Now())
}

// unowned lists the periods of what was done without ownership.
func (d *diary) unowned() (periods []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.given {
		if a.Unowned {
			periods = append(periods, a.Period)
		}
	}
	return periods
}

func (d *diary) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.given)
}

func alone(id, cron string) duly.Schedule {
	s := handled(id, cron)
	s.WhenUnavailable = duly.UnavailableRun
	return s
}

// cutOff starts n nodes, each behind a line of its own, and cuts the lines half
// a minute before the next minute.
func cutOff(w *world, n int, handler node.Handler) (heal func(), due time.Time) {
	var lines []*storetest.Faulty
	for i := range n {
		line := storetest.NewFaulty(w.st)
		lines = append(lines, line)
		w.start(line, node.Options{Name: fmt.Sprint("n", i+1)}, handle(handler))
	}
	toMinute(30 * time.Second)
	for _, line := range lines {
		line.Set(storetest.Faults{Outage: true})
	}
	return func() {
		for _, line := range lines {
			line.Set(storetest.Faults{})
		}
	}, time.Now().Truncate(time.Minute).Add(time.Minute)
}

func TestWhileTheStoreIsOutOfReachEachNodeRunsByItselfWhatMayBe(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(alone("a", "* * * * *"), handled("careful", "* * * * *"))
		var d diary
		heal, due := cutOff(w, 3, func(ctx context.Context, occ *node.Occurrence) error {
			d.note(occ)
			if _, granted := duly.GrantFrom(ctx); granted == occ.Unowned {
				t.Errorf("granted %t, unowned %t", granted, occ.Unowned)
			}
			return nil
		})
		before := d.size()
		toMinute(time.Second)
		if n := d.size() - before; n != 3 {
			t.Fatalf("%d runs on three nodes", n)
		}
		period := due.UTC().Format("2006-01-02T15:04:05Z")
		for i, a := range d.given[before:] {
			if a.Schedule != "a" || !a.Unowned || a.Period != period || a.Token != 0 || a.Attempt != 0 || a.LeaseUntil != nil || !a.Due.Equal(due) ||
				a.IdempotencyKey != "a@"+period || !slices.Equal(a.Covers, []string{period}) || !a.IntervalStart.Equal(due.Add(-time.Minute)) {
				t.Errorf("given %+v", a)
			}
			if late := d.at[before+i].Sub(due); late > 100*time.Millisecond {
				t.Errorf("started %v after it was due", late)
			}
		}
		if _, err := w.st.Occurrence(w.ctx, "a@"+period); duly.CodeOf(err) != duly.CodeNotFound {
			t.Errorf("the store has it: %v", err)
		}

		time.Sleep(20 * time.Second)
		heal()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		o := w.occurrence("a@" + period)
		if o.State != duly.Succeeded || len(o.Attempts) != 1 || len(o.Unowned) != 3 {
			t.Fatalf("history has %+v", o)
		}
		nodes := map[string]bool{}
		for _, u := range o.Unowned {
			nodes[u.Node] = true
			if u.Outcome != duly.AttemptSucceeded || !u.Due.Equal(due) || u.StartedAt.Sub(due).Abs() > time.Second || u.RecordedAt.IsZero() {
				t.Errorf("recorded %+v", u)
			}
		}
		if len(nodes) != 3 {
			t.Errorf("recorded by %v", nodes)
		}
		if o := w.occurrence("careful@" + period); o.State != duly.Succeeded || len(o.Unowned) != 0 {
			t.Errorf("history of the careful one has %+v", o)
		}
		rows, _, err := w.st.Audit(w.ctx, "occurrence/a@"+period, store.Page{})
		if err != nil || len(rows) != 3 || rows[0].Action != "unowned" {
			t.Errorf("audit %+v, %v", rows, err)
		}
		// The next minute is nobody's alone again.
		toMinute(time.Second)
		if got := d.unowned(); len(got) != 3 {
			t.Errorf("unowned %v", got)
		}
	})
}

func TestAShortSilenceIsNoReasonToRunAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(alone("a", "* * * * *"))
		var d diary
		line := storetest.NewFaulty(w.st)
		w.start(line, node.Options{}, handle(func(_ context.Context, occ *node.Occurrence) error { d.note(occ); return nil }))
		toMinute(58 * time.Second)
		line.Set(storetest.Faults{Outage: true})
		time.Sleep(9900 * time.Millisecond) // most nodes would look again too late
		line.Set(storetest.Faults{})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if d.size() != 2 || len(d.unowned()) != 0 {
			t.Errorf("ran %+v", d.given)
		}
	})
}

// The store may hang instead of refusing.
func TestAStoreThatHangsIsOutOfReachToo(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(alone("a", "* * * * *"))
		var d diary
		line := storetest.NewFaulty(w.st)
		w.start(line, node.Options{}, handle(func(_ context.Context, occ *node.Occurrence) error { d.note(occ); return nil }))
		toMinute(40 * time.Second)
		line.Set(storetest.Faults{Delay: 45 * time.Second})
		toMinute(5 * time.Second)
		if got := d.unowned(); len(got) != 1 {
			t.Errorf("unowned %v", got)
		}
		line.Set(storetest.Faults{})
		time.Sleep(time.Minute)
	})
}

func TestWhatRunsUnownedWhenTheStoreComesBackGoesOnAndIsRecorded(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(alone("a", "0 * * * *"))
		var d diary
		started := make(chan struct{}, 1)
		line := storetest.NewFaulty(w.st)
		w.start(line, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			d.note(occ)
			if !occ.Unowned {
				return nil
			}
			started <- struct{}{}
			time.Sleep(10 * time.Minute)
			if ctx.Err() != nil {
				t.Errorf("it was ended: %v", context.Cause(ctx))
			}
			return duly.Permanent(errors.New("no luck"))
		}))
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(59*time.Minute + 30*time.Second)))
		line.Set(storetest.Faults{Outage: true})
		<-started
		line.Set(storetest.Faults{})
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		all := w.occurrences("a")
		o := w.occurrence(all[len(all)-1].ID)
		if o.State != duly.Succeeded || len(o.Unowned) != 1 {
			t.Fatalf("history has %+v", o)
		}
		if u := o.Unowned[0]; u.Outcome != duly.AttemptFailed || u.Error != "no luck" || u.FinishedAt.Sub(u.StartedAt) != 10*time.Minute {
			t.Errorf("recorded %+v", u)
		}
	})
}

func TestOverlapHoldsWithinTheProcess(t *testing.T) {
	for _, c := range []struct {
		overlap duly.Overlap
		want    int // starts in five minutes of which each one takes 150 s
		most    int // at once
	}{
		{duly.OverlapWait, 2, 1},
		{duly.OverlapSkip, 2, 1},
		{duly.OverlapCombine, 2, 1},
		{duly.OverlapAllow, 5, 3},
		{duly.OverlapReplace, 5, 1},
	} {
		t.Run(string(c.overlap), func(t *testing.T) {
			inBubble(t, func(w *world) {
				s := alone("a", "* * * * *")
				s.Overlap = c.overlap
				w.apply(s)
				var d diary
				var mu sync.Mutex
				now, most := 0, 0
				heal, due := cutOff(w, 1, func(ctx context.Context, occ *node.Occurrence) error {
					if !occ.Unowned {
						return nil
					}
					d.note(occ)
					mu.Lock()
					now++
					most = max(most, now)
					mu.Unlock()
					select {
					case <-time.After(150 * time.Second):
					case <-ctx.Done():
					}
					mu.Lock()
					now--
					mu.Unlock()
					return ctx.Err()
				})
				time.Sleep(time.Until(due.Add(4*time.Minute + 30*time.Second)))
				synctest.Wait()
				if d.size() != c.want || most != c.most {
					t.Errorf("%d starts, %d at once; want %d, %d", d.size(), most, c.want, c.most)
				}
				if c.overlap == duly.OverlapCombine && len(d.given) == 2 && len(d.given[1].Covers) != 2 {
					t.Errorf("the second covers %v", d.given[1].Covers)
				}
				heal()
				time.Sleep(5 * time.Minute)
			})
		})
	}
}

func TestAPausedScheduleDoesNotRunAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(alone("a", "* * * * *"))
		if err := w.ctl.Pause(w.ctx, store.PauseRequest{Schedule: "a", By: "ann"}); err != nil {
			t.Fatal(err)
		}
		var d diary
		heal, _ := cutOff(w, 1, func(_ context.Context, occ *node.Occurrence) error { d.note(occ); return nil })
		time.Sleep(5 * time.Minute)
		if d.size() != 0 {
			t.Errorf("ran %+v", d.given)
		}
		heal()
	})
}

func TestAChangeIsKnownInTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("a", "* * * * *"), alone("b", "* * * * *"))
		var d diary
		line := storetest.NewFaulty(w.st)
		w.start(line, node.Options{}, handle(func(_ context.Context, occ *node.Occurrence) error { d.note(occ); return nil }))
		toMinute(10 * time.Second)
		if _, err := w.ctl.Apply(w.ctx, control.ApplyRequest{Owner: "test", By: "test", Schedules: []duly.Schedule{alone("a", "* * * * *")}, Remove: []string{"b"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		line.Set(storetest.Faults{Outage: true})
		toMinute(time.Second)
		line.Set(storetest.Faults{})
		var ran []string
		for _, a := range d.given {
			if a.Unowned {
				ran = append(ran, a.Schedule)
			}
		}
		if !slices.Equal(ran, []string{"a"}) {
			t.Errorf("ran alone: %v", ran)
		}
	})
}

func TestADrainLeavesNothingUnownedUntold(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(alone("a", "* * * * *"))
		line := storetest.NewFaulty(w.st)
		ran := make(chan string, 1)
		_, stop := w.start(line, node.Options{DrainTime: time.Minute}, handle(func(_ context.Context, occ *node.Occurrence) error {
			if occ.Unowned {
				ran <- occ.Assignment.Occurrence
				time.Sleep(30 * time.Second)
			}
			return nil
		}))
		toMinute(30 * time.Second)
		line.Set(storetest.Faults{Outage: true})
		id := <-ran
		line.Set(storetest.Faults{})
		stop()
		rows, _, err := w.st.Audit(w.ctx, "occurrence/"+id, store.Page{})
		if err != nil || len(rows) != 1 || rows[0].Action != "unowned" {
			t.Errorf("audit %+v, %v", rows, err)
		}
	})
}
