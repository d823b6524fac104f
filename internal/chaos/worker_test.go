//go:build unix

package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/node"
	_ "github.com/duly-dev/duly/store/postgres"
)

const orderVariable = "DULY_TEST_CHAOS_ORDER"

// order is what a worker process is told.
type order struct {
	Name  string
	Store string // URL of Duly's store
	App   string // URL of the application's database, empty for none
	Home  string // URL of the store's own, as the application's; empty for none
	Slots int
}

// workerMain is a worker: an ordinary program that embeds a node.
func workerMain(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := runWorker(ctx, o, log); err != nil {
		log.Error("the worker ends", "error", err)
		return 1
	}
	return 0
}

func runWorker(ctx context.Context, o order, log *slog.Logger) error {
	n, err := openNode(ctx, o, log)
	if err != nil {
		return err
	}
	defer n.Close()
	w := &worker{name: o.Name}
	for pool, url := range map[**pgxpool.Pool]string{&w.app: o.App, &w.home: o.Home} {
		if url == "" {
			continue
		}
		if *pool, err = pgxpool.New(ctx, url); err != nil {
			return err
		}
		defer (*pool).Close()
	}
	n.Handle("work", w.work)
	n.Handle("hold", w.hold)
	n.Handle("nap", w.nap)
	return n.Run(ctx)
}

// openNode waits for the store as a service manager would: by starting again.
func openNode(ctx context.Context, o order, log *slog.Logger) (*node.Node, error) {
	for {
		trying, cancel := context.WithTimeout(ctx, 10*time.Second)
		n, err := node.Open(trying, o.Store, node.Options{Name: o.Name, App: "chaos", Slots: o.Slots, DrainTime: 2 * time.Second, CancelGrace: 2 * time.Second, SessionTTL: 4 * time.Second, Logger: log})
		cancel()
		if err == nil || duly.CodeOf(err) != duly.CodeUnavailable {
			return n, err
		}
		log.Warn("the store cannot be opened yet", "error", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

type worker struct {
	name      string
	app, home *pgxpool.Pool
}

// joins reports whether a schedule's work is completed by the commit of its last
// effect, in the store's own database.
func joins(schedule string) bool { return strings.HasPrefix(schedule, "joined") }

// nature is what a period's work is like. It is drawn from its name, so that
// whoever verifies knows it too.
type nature int

const (
	plain    nature = iota
	slow            // longer than the lease
	stumbles        // fails at its first attempt, before its effect
	forgets         // fails at its first attempt, after its effect; too late where that completes it
	hopeless        // can never be done
)

func natureOf(schedule, period string) nature {
	if strings.HasPrefix(schedule, "hopeless") {
		return hopeless
	}
	switch n := draw("nature", schedule, period) % 100; {
	case n < 3:
		return slow
	case n < 8:
		return stumbles
	case n < 13:
		return forgets
	case n < 16 && !strings.HasPrefix(schedule, "combine"): // whose periods fail and succeed together
		return hopeless
	}
	return plain
}

// draw answers a number that is always the same for the same question.
func draw(question, schedule, period string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, question, schedule, "@", period)
	return h.Sum64()
}

// takes is how long a step of work takes, so that faults meet it on its way.
func takes(step, schedule, period string) time.Duration {
	return time.Duration(draw(step, schedule, period)%300) * time.Millisecond
}

var errAsPlanned = errors.New("as planned")

func (w *worker) work(ctx context.Context, occ *node.Occurrence) error {
	kind := natureOf(occ.Schedule, occ.Period)
	switch {
	case kind == hopeless:
		return duly.Permanent(errAsPlanned)
	case kind == stumbles && occ.Attempt == 1:
		return errAsPlanned
	case kind == slow:
		if err := pause(ctx, lease+lease/2); err != nil {
			return err
		}
	}
	for i, period := range occ.Covers {
		app, within := w.app, ctx
		if joins(occ.Schedule) {
			app = w.home
			if i == len(occ.Covers)-1 {
				within = effect.Completing(ctx)
			}
		}
		_, _, err := effect.Do(within, pgxeffect.DB(app), effectKey(occ.Schedule, period), func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
			_, err := tx.Exec(ctx, "INSERT INTO made (key, occurrence, attempt, token, worker) VALUES ($1, $2, $3, $4, $5)",
				effectKey(occ.Schedule, period), duly.OccurrenceID(occ.Schedule, occ.Period), occ.Attempt, occ.Token, w.name)
			if err == nil {
				err = pause(ctx, takes("commit", occ.Schedule, period)/2)
			}
			return struct{}{}, err
		})
		if err != nil {
			return err
		}
	}
	// Who is killed here has had the effect, and cannot say so.
	if err := pause(ctx, takes("report", occ.Schedule, occ.Period)); err != nil {
		return err
	}
	if kind == forgets && occ.Attempt == 1 {
		return errAsPlanned
	}
	return nil
}

func effectKey(schedule, period string) string { return "chaos/" + schedule + "/" + period }

// hold works until it is told to stop, and says when that was.
func (w *worker) hold(ctx context.Context, occ *node.Occurrence) error {
	say("began", occ)
	<-ctx.Done()
	say("stopped", occ)
	return context.Cause(ctx)
}

// nap works for as long as its payload says, in milliseconds.
func (w *worker) nap(ctx context.Context, occ *node.Occurrence) error {
	say("began", occ)
	var ms int
	if err := occ.Decode(&ms); err != nil {
		return err
	}
	if err := pause(ctx, time.Duration(ms)*time.Millisecond); err != nil {
		return err
	}
	say("done", occ)
	return nil
}

// say tells what happened, when, and the end of the lease as the worker knows it.
func say(what string, occ *node.Occurrence) {
	fmt.Printf("%s %s %d %d %d\n", what, occ.Assignment.Occurrence, occ.Attempt, time.Now().UnixNano(), occ.LeaseUntil().UnixNano())
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
