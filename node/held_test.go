package node_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// holder answers reports about one schedule as a store does while another
// transaction holds it.
type holder struct {
	store.Store
	mu    sync.Mutex
	holds string // the schedule's ID
	asked int    // reports that were not taken
}

func (h *holder) hold(schedule string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.holds = schedule
}

func (h *holder) Finish(ctx context.Context, node int64, reports []store.Report) ([]store.Finished, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	answers := make([]store.Finished, len(reports))
	for i, r := range reports {
		facts, err := h.Store.Attempts(ctx, []store.AttemptKey{{Seq: r.Seq, Token: r.Token}})
		if err != nil {
			return nil, err
		}
		if h.holds != "" && facts[0].Schedule == h.holds {
			h.asked++
			answers[i].Err = duly.Errorf(duly.CodeUnavailable, "held")
			continue
		}
		one, err := h.Store.Finish(ctx, node, []store.Report{r})
		if err != nil {
			return nil, err
		}
		answers[i] = one[0]
	}
	return answers, nil
}

func TestAReportThatIsHeldUpHoldsUpNoOtherAndIsGivenAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("held", "* * * * *"), handled("free", "*/10 * * * * *"))
		st := &holder{Store: w.st}
		st.hold("held")
		w.start(st, node.Options{}, handle(done))
		toMinute(12 * time.Second)
		for _, o := range w.occurrences("free") {
			if o.State != duly.Succeeded || o.FinishedAt.Sub(o.Due) > time.Second {
				t.Errorf("%s is %s, finished %v after it was due", o.ID, o.State, o.FinishedAt.Sub(o.Due))
			}
		}
		if o := w.occurrences("held")[0]; o.State != duly.Running {
			t.Errorf("%s is %s", o.ID, o.State)
		}
		st.hold("")
		time.Sleep(time.Second)
		synctest.Wait()
		wantAttempts(t, w.occurrences("held")[0], duly.Succeeded, duly.AttemptSucceeded)
		if st.asked < 12 || st.asked > 30 {
			t.Errorf("asked %d times in 12 s", st.asked)
		}
	})
}

func TestADrainWaitsForAReportThatIsHeldUp(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("held", "* * * * *"))
		st := &holder{Store: w.st}
		st.hold("held")
		_, stop := w.start(st, node.Options{}, handle(done))
		toMinute(time.Second)
		time.AfterFunc(3*time.Second, func() { st.hold("") })
		stop()
		wantAttempts(t, w.occurrences("held")[0], duly.Succeeded, duly.AttemptSucceeded)
	})
}

// slowRenewals answers a renewal long after it was made.
type slowRenewals struct{ store.Store }

func (s slowRenewals) Renew(ctx context.Context, node int64, items []store.Renewal) ([]store.Renewed, error) {
	answers, err := s.Store.Renew(ctx, node, items)
	time.Sleep(2 * time.Second)
	return answers, err
}

func TestACancelIsHeardThatCameWhileARenewalWasOnItsWay(t *testing.T) {
	inBubble(t, func(w *world) {
		s := handled("s", "* * * * *")
		s.Lease = duly.Duration(time.Hour)
		w.apply(s)
		w.start(slowRenewals{w.st}, node.Options{}, handle(func(ctx context.Context, _ *node.Occurrence) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}))
		toMinute(11 * time.Second) // the first renewal was made at 10 s
		o := w.occurrences("s")[0]
		if err := w.st.Cancel(w.ctx, o.ID, "ann", "wrong month"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if o = w.occurrence(o.ID); o.State != duly.Cancelled {
			t.Errorf("%s is %s 5 s later", o.ID, o.State)
		}
	})
}

// manyNews counts renewals, and tells watchers of news without end.
type manyNews struct {
	store.Store
	mu      sync.Mutex
	topic   store.Topic
	renewed int
}

func (s *manyNews) Renew(ctx context.Context, node int64, items []store.Renewal) ([]store.Renewed, error) {
	s.mu.Lock()
	s.renewed++
	s.mu.Unlock()
	return s.Store.Renew(ctx, node, items)
}

func (s *manyNews) Watch(ctx context.Context, notify func(store.Event)) error {
	for ctx.Err() == nil {
		notify(store.Event{Topic: s.topic})
		time.Sleep(200 * time.Millisecond)
	}
	return ctx.Err()
}

func TestNewsOfOtherWorkRenewsNothingBeforeItsTime(t *testing.T) {
	for topic, most := range map[store.Topic]int{store.TopicOccurrences: 6, store.TopicAny: 20, store.TopicCancels: 60} {
		t.Run(string(topic), func(t *testing.T) {
			inBubble(t, func(w *world) {
				s := handled("s", "* * * * *")
				s.Lease = duly.Duration(time.Hour)
				w.apply(s)
				st := &manyNews{Store: w.st, topic: topic}
				w.start(st, node.Options{}, handle(func(ctx context.Context, _ *node.Occurrence) error {
					time.Sleep(55 * time.Second)
					return nil
				}))
				toMinute(56 * time.Second)
				if st.renewed < 4 || st.renewed > most {
					t.Errorf("renewed %d times in 55 s, want 4 to %d", st.renewed, most)
				}
			})
		})
	}
}
