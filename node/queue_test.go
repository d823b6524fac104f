package node_test

import (
	"context"
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
				var starts []time.Time
				w.start(w.st, node.Options{}, handle(func(context.Context, *node.Occurrence) error {
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
				synctest.Wait()
				if len(starts) != 1 {
					t.Fatalf("started at %v", starts)
				}
				time.Sleep(time.Second)
				if way == "resume" {
					if err := w.ctl.ResumeQueue(w.ctx, store.ResumeQueueRequest{Queue: "billing", By: "bob"}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(50 * time.Millisecond)
				synctest.Wait()
				if len(starts) != 3 {
					t.Fatalf("started at %v, want both that had waited at %v", starts, end)
				}
			})
		})
	}
}
