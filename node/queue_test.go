package node_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// No node polls here: a pause that ends by itself has to be on the horizon, and
// a resume has to wake.
func TestAPausedQueueStartsNothingUntilItsPauseEnds(t *testing.T) {
	for _, way := range []string{"until", "resume"} {
		t.Run(way, func(t *testing.T) {
			inBubble(t, func(w *world) {
				s := handled("a", "* * * * *")
				s.Queue = "billing"
				w.apply(s)
				var mu sync.Mutex
				var starts []time.Time
				started := func(want int) {
					t.Helper()
					synctest.Wait()
					mu.Lock()
					defer mu.Unlock()
					if len(starts) != want {
						t.Fatalf("started at %v, want %d starts", starts, want)
					}
				}
				w.start(w.st, node.Options{}, handle(func(context.Context, *node.Occurrence) error {
					mu.Lock()
					defer mu.Unlock()
					starts = append(starts, time.Now())
					return nil
				}))
				toMinute(time.Second)
				pause := store.PauseQueueRequest{Queue: "billing", By: "ann", Why: "the bank is down"}
				end := time.Now().Truncate(time.Minute).Add(150 * time.Second)
				if way == "until" {
					pause.Until = end
				}
				if err := w.ctl.PauseQueue(w.ctx, pause); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Until(end) - time.Second)
				started(1)
				time.Sleep(time.Second)
				if way == "resume" {
					if err := w.ctl.ResumeQueue(w.ctx, store.ResumeQueueRequest{Queue: "billing", By: "bob"}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(50 * time.Millisecond)
				started(3) // both that had waited
			})
		})
	}
}
