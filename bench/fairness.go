package bench

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// fairness: a queue of many schedules and one of few, due in the same second,
// the few made last.
func fairness(ctx context.Context, o *Options) error {
	const crowd, few = 10_000, 100
	st, _, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	queues := []duly.Queue{{Name: "crowd", Concurrency: crowd}, {Name: "few", Concurrency: few}}
	if _, err := st.Apply(ctx, store.ApplyRequest{Owner: "queues", By: "bench", Queues: queues}); err != nil {
		return err
	}
	at := time.Now().Add(5*time.Second + crowd*400*time.Microsecond).Truncate(time.Second)
	var mu sync.Mutex
	late := map[string][]time.Duration{}
	enough := make(chan struct{})
	left := crowd + few
	n := newNode(st, 2000)
	n.Handle("noop", func(_ context.Context, occ *node.Occurrence) error {
		d := time.Since(occ.Due)
		queue, _, _ := strings.Cut(occ.Schedule, "/")
		mu.Lock()
		defer mu.Unlock()
		late[queue] = append(late[queue], d)
		if left--; left == 0 {
			close(enough)
		}
		return nil
	})
	for _, q := range queues {
		s := duly.Schedule{ID: q.Name, Timing: duly.Timing{At: at.Format(time.RFC3339)}, Queue: q.Name, Overlap: duly.OverlapAllow, Target: duly.Target{Handler: "noop"}}
		if err := create(ctx, st, time.Time{}, q.Concurrency, s); err != nil {
			return err
		}
	}
	stop := runNode(ctx, n)
	defer stop()
	select {
	case <-enough:
	case <-ctx.Done():
		return ctx.Err()
	}
	stop()
	for _, q := range queues {
		_, p99 := quantiles(late[q.Name])
		o.report("fairness_"+q.Name+"_p99", p99.Seconds(), "s", "due to handler start: %d schedules of one queue and, made after them, %d of another, due in the same second", crowd, few)
	}
	return nil
}
