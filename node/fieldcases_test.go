package node_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// Schedules live in the store: any node fires all of them, whoever declared
// them, and only their work waits for a node that can do it.
func TestFieldCase_B24_ANodeFiresWhatAnotherDeclared(t *testing.T) {
	inBubble(t, func(w *world) {
		carry := func(id, handler string) func(n *node.Node) {
			return func(n *node.Node) {
				s := handled(id, "* * * * *")
				s.Target.Handler = handler
				if err := n.Declare(s); err != nil {
					t.Fatal(err)
				}
				n.Handle(handler, done)
			}
		}
		_, stopA := w.start(w.st, node.Options{Name: "a", App: "a"}, carry("sched-a", "work-a"))
		w.start(w.st, node.Options{Name: "b", App: "b"}, carry("sched-b", "work-b"))
		toMinute(time.Second)
		stopA()
		before := len(w.occurrences("sched-a"))
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		a := w.occurrences("sched-a")
		if len(a)-before != 5 || a[len(a)-1].State != duly.Pending {
			t.Errorf("while a was gone %d occurrences of its schedule came to be, the newest is %s", len(a)-before, a[len(a)-1].State)
		}
		for _, o := range w.occurrences("sched-b") {
			if o.State != duly.Succeeded {
				t.Errorf("%s is %s", o.ID, o.State)
			}
		}
		w.start(w.st, node.Options{Name: "a2", App: "a"}, carry("sched-a", "work-a"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, o := range w.occurrences("sched-a") {
			if o.State != duly.Succeeded {
				t.Errorf("after a's return %s is %s", o.ID, o.State)
			}
		}
	})
}

func TestFieldCase_B26_ApplyingTheSameDefinitionDoesNotTouchTheSchedule(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("s", "* * * * *"))
		w.start(w.st, node.Options{}, handle(done))
		toMinute(time.Second)
		before := len(w.occurrences("s"))
		for range 3000 {
			w.apply(handled("s", "* * * * *"))
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		s, err := w.st.Schedule(w.ctx, "s")
		if err != nil {
			t.Fatal(err)
		}
		all := w.occurrences("s")
		if len(all)-before != 5 || s.Revision != 1 {
			t.Errorf("%d occurrences in five minutes, revision %d", len(all)-before, s.Revision)
		}
		for i := 1; i < len(all); i++ {
			if gap := all[i].Due.Sub(all[i-1].Due); gap != time.Minute {
				t.Errorf("%v between %s and %s", gap, all[i-1].ID, all[i].ID)
			}
		}
	})
}

func TestFieldCase_B28_ThreeNodesDeclareOneScheduleWithOneOccurrence(t *testing.T) {
	inBubble(t, func(w *world) {
		var calls atomic.Int32
		for i := range 3 {
			w.start(w.st, node.Options{Name: fmt.Sprint("node-", i), App: "billing"}, func(n *node.Node) {
				s := handled("daily-invoice", "0 1 * * *")
				if err := n.Declare(s); err != nil {
					t.Fatal(err)
				}
				n.Handle("work", func(context.Context, *node.Occurrence) error { calls.Add(1); return nil })
			})
		}
		time.Sleep(time.Hour + time.Minute)
		synctest.Wait()
		all, _, err := w.st.Schedules(w.ctx, store.ScheduleFilter{}, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		occ := w.occurrences("daily-invoice")
		if len(all) != 1 || len(occ) != 1 || len(occ[0].Attempts) != 1 || calls.Load() != 1 {
			t.Errorf("%d schedules, %d occurrences, %d calls", len(all), len(occ), calls.Load())
		}
	})
}

func TestFieldCase_B29_IdentityIsTheIDAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("s", "* * * * *"))
		w.start(w.st, node.Options{}, handle(done))
		toMinute(-time.Second)
		before := len(w.occurrences("s"))
		time.Sleep(2 * time.Minute)
		w.apply(handled("s", "* * * * *"))
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if got := len(w.occurrences("s")) - before; got != 5 {
			t.Errorf("%d occurrences in five minutes around a second registration", got)
		}
	})
}

// Losing the race to insert is quiet.
func TestFieldCase_B33_RacingNodesLogNoErrors(t *testing.T) {
	inBubble(t, func(w *world) {
		var mu sync.Mutex
		var logged bytes.Buffer
		log := slog.New(slog.NewTextHandler(lockedWriter{&mu, &logged}, &slog.HandlerOptions{Level: slog.LevelWarn}))
		w.apply(handled("s", "* * * * *"))
		for i := range 4 {
			w.start(w.st, node.Options{Name: fmt.Sprint("node-", i), Logger: log}, handle(done))
		}
		toMinute(-time.Second)
		before := len(w.occurrences("s"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := len(w.occurrences("s")) - before; got != 10 {
			t.Errorf("%d occurrences in ten minutes on four nodes", got)
		}
		mu.Lock()
		defer mu.Unlock()
		if logged.Len() > 0 {
			t.Errorf("the race was logged:\n%s", &logged)
		}
	})
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestFieldCase_B41_UniquenessDoesNotOutliveItsOccurrence(t *testing.T) {
	inBubble(t, func(w *world) {
		var calls atomic.Int32
		work := handle(func(context.Context, *node.Occurrence) error {
			calls.Add(1)
			time.Sleep(time.Second)
			return nil
		})
		w.apply(handled("s", "* * * * *"))
		for i := range 3 {
			w.start(w.st, node.Options{Name: fmt.Sprint("node-", i)}, work)
		}
		toMinute(-time.Second)
		before := calls.Load()
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if got := calls.Load() - before; got != 5 {
			t.Errorf("%d runs in five minutes", got)
		}
	})
}

func TestFieldCase_B43_AQueuesConcurrencyHoldsAcrossNodes(t *testing.T) {
	for _, limit := range []int{1, 3} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			inBubble(t, func(w *world) {
				s := handled("s", "0 0 1 1 *")
				s.Queue, s.Overlap = "shared", duly.OverlapAllow
				_, err := w.ctl.Apply(w.ctx, control.ApplyRequest{
					Owner: "test", By: "test", Schedules: []duly.Schedule{s}, Queues: []duly.Queue{{Name: "shared", Concurrency: limit}},
				})
				if err != nil {
					t.Fatal(err)
				}
				var active, most, total atomic.Int32
				work := handle(func(context.Context, *node.Occurrence) error {
					now := active.Add(1)
					for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
					}
					time.Sleep(300 * time.Millisecond)
					active.Add(-1)
					total.Add(1)
					return nil
				})
				for i := range 3 {
					w.start(w.st, node.Options{Name: fmt.Sprint("node-", i), Slots: 4}, work)
				}
				time.Sleep(time.Second)
				began := time.Now()
				for range 20 {
					if _, err := w.ctl.Trigger(w.ctx, control.TriggerRequest{Schedule: "s", By: "test"}); err != nil {
						t.Fatal(err)
					}
				}
				for total.Load() < 20 {
					time.Sleep(10 * time.Millisecond)
					if time.Since(began) > time.Minute {
						t.Fatalf("%d of 20 done after a minute", total.Load())
					}
				}
				least := 20 * 300 * time.Millisecond / time.Duration(limit)
				if took := time.Since(began); most.Load() != int32(limit) || took < least-300*time.Millisecond {
					t.Errorf("at most %d at once, all done after %v", most.Load(), took)
				}
			})
		})
	}
}

func TestFieldCase_B57_FinishedIsFinal(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("once", "")
		s.Timing = duly.Timing{At: time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
		s.Lease = duly.Duration(10 * time.Minute)
		w.apply(s)
		var calls atomic.Int32
		for i := range 2 {
			w.start(w.st, node.Options{Name: fmt.Sprint("node-", i)}, handle(func(context.Context, *node.Occurrence) error { calls.Add(1); return nil }))
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		o := w.occurrences("once")
		if calls.Load() != 1 || len(o) != 1 || len(o[0].Attempts) != 1 || o[0].State != duly.Succeeded {
			t.Errorf("%d calls, %+v", calls.Load(), o)
		}
	})
}

func TestFieldCase_B100_ConcurrentAppliesLeaveExactlyTheirDefinitions(t *testing.T) {
	inBubble(t, func(w *world) {
		w.start(w.st, node.Options{}, handle(done))
		var all []duly.Schedule
		for i := range 20 {
			all = append(all, handled(fmt.Sprint("s-", i), "* * * * *"))
		}
		var writers sync.WaitGroup
		for range 8 {
			writers.Go(func() {
				for i := range 50 {
					w.apply(all[i%len(all)], all[(i*7+3)%len(all)])
					time.Sleep(time.Millisecond)
				}
			})
		}
		writers.Wait()
		toMinute(5 * time.Second)
		list, _, err := w.st.Schedules(w.ctx, store.ScheduleFilter{}, store.Page{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 20 {
			t.Fatalf("%d schedules", len(list))
		}
		for _, s := range list {
			occ := w.occurrences(s.ID)
			if s.Revision != 1 || !s.NextDue.After(time.Now()) || len(occ) == 0 || occ[len(occ)-1].State != duly.Succeeded {
				t.Errorf("%s: revision %d, next %v, %d occurrences", s.ID, s.Revision, s.NextDue, len(occ))
			}
		}
	})
}
