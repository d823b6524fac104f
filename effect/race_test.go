//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/store"
)

// Against every other attempt that completes with its effect something else
// happens at the same moment.
func TestWhateverHappensAtTheSameMomentEffectAndCompletionAreOne(t *testing.T) {
	j := newJoint(t, servers.Postgres(t), openPGX, time.Minute)
	ctl := control.New(j.st)
	define := func(minute int) error {
		var all []duly.Schedule
		for i, overlap := range []duly.Overlap{duly.OverlapWait, duly.OverlapAllow, duly.OverlapAllow} {
			all = append(all, duly.Schedule{
				ID: fmt.Sprint("race-", i), Timing: duly.Timing{Cron: fmt.Sprint(minute%60, " 0 1 1 *")}, Overlap: overlap,
				Target: duly.Target{Handler: "bill"}, Lease: duly.Duration(time.Minute),
			})
		}
		_, err := ctl.Apply(t.Context(), control.ApplyRequest{Owner: "race", By: "test", Schedules: all})
		return err
	}
	if err := define(0); err != nil {
		t.Fatal(err)
	}
	for i := range 75 {
		if _, err := ctl.Trigger(t.Context(), control.TriggerRequest{Schedule: fmt.Sprint("race-", i%3), By: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	reap := func() {
		_, _ = j.st.Reap(t.Context(), store.ReapRequest{Now: time.Now().Add(time.Hour), Decide: func(store.Expired) store.Next { return store.Next{State: duly.Pending} }})
	}
	failed := func(c store.Claim) {
		_, _ = j.st.Finish(t.Context(), 0, []store.Report{{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptFailed, Next: store.Next{State: duly.Pending}}})
	}
	enemies := []func(c store.Claim, cancel context.CancelFunc){
		func(store.Claim, context.CancelFunc) { reap() },
		func(c store.Claim, _ context.CancelFunc) { failed(c) },
		func(c store.Claim, _ context.CancelFunc) {
			_, _ = j.st.Renew(t.Context(), 0, []store.Renewal{{Seq: c.Seq, Token: c.Token, Lease: time.Minute}})
		},
		func(c store.Claim, _ context.CancelFunc) {
			if c.Attempt < 3 {
				_ = ctl.Cancel(t.Context(), duly.OccurrenceID(c.Schedule, c.Period), "test", "not needed")
			}
		},
		func(c store.Claim, _ context.CancelFunc) { _ = define(int(c.Token)) },
		func(_ store.Claim, cancel context.CancelFunc) { cancel() },
		func(store.Claim, context.CancelFunc) {
			j.exec(t, "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE application_name = 'app' ORDER BY random() LIMIT 1) a")
		},
	}
	attempt := func(have func(ctx context.Context, key string) error, c store.Claim) {
		ctx, cancel := context.WithCancel(j.grant(t.Context(), c))
		defer cancel()
		var enemy sync.WaitGroup
		if i := rand.N(2 * len(enemies)); i < len(enemies) {
			enemy.Go(func() { enemies[i](c, cancel) })
		}
		err := have(effect.Completing(ctx), duly.OccurrenceID(c.Schedule, c.Period))
		enemy.Wait()
		if err != nil {
			failed(c)
		}
	}
	const insert = "INSERT INTO invoices (customer, period, note) VALUES (1, $1, '')"
	ways := []func(ctx context.Context, key string) error{func(ctx context.Context, key string) error {
		_, _, err := effect.Do(ctx, effect.Postgres.DB(j.sql), key, func(ctx context.Context, tx *sql.Tx) (int, error) {
			_, err := tx.ExecContext(ctx, insert, key)
			return 0, err
		})
		return err
	}}
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
		pool, err := pgxpool.New(t.Context(), j.DSN+"&application_name=app&default_query_exec_mode="+mode)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		ways = append(ways, func(ctx context.Context, key string) error {
			_, _, err := effect.Do(ctx, pgxeffect.DB(pool), key, func(ctx context.Context, tx pgx.Tx) (int, error) {
				_, err := tx.Exec(ctx, insert, key)
				return 0, err
			})
			return err
		})
		for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
			ways = append(ways, func(ctx context.Context, key string) error {
				return pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{IsoLevel: level}, func(tx pgx.Tx) error {
					_, _, err := effect.Once(ctx, pgxeffect.Tx(tx), key, func(ctx context.Context) (int, error) {
						_, err := tx.Exec(ctx, insert, key)
						return 0, err
					})
					if err != nil {
						return err
					}
					return effect.Complete(ctx, pgxeffect.Tx(tx))
				})
			})
		}
	}
	deadline := limited(t, time.Minute)
	var wg sync.WaitGroup
	for _, have := range ways {
		wg.Go(func() {
			for deadline.Err() == nil {
				res, err := j.st.Claim(t.Context(), store.ClaimRequest{Max: 1, Capabilities: []string{"handler:bill"}})
				switch {
				case err != nil:
				case len(res.Claims) > 0:
					attempt(have, res.Claims[0])
				case j.number(t, "SELECT count(*) FROM duly.occurrences WHERE state < 2") == 0:
					return
				default:
					reap() // what was lost altogether
				}
			}
		})
	}
	wg.Wait()
	if deadline.Err() != nil {
		t.Error("it does not end")
	}
	for wrong, query := range map[string]string{
		"effects twice":             "SELECT count(*) FROM (SELECT period FROM invoices GROUP BY period HAVING count(*) > 1) x",
		"completions without":       "SELECT count(*) FROM duly.occurrences o JOIN duly.tracks t USING (sid) WHERE o.state = 2 AND NOT EXISTS (SELECT 1 FROM invoices WHERE period = t.id || '@' || o.period)",
		"effects without":           "SELECT count(*) FROM invoices i WHERE NOT EXISTS (SELECT 1 FROM duly.occurrences o JOIN duly.tracks t USING (sid) WHERE o.state = 2 AND i.period = t.id || '@' || o.period)",
		"keys without":              "SELECT count(*) FROM duly_effects WHERE state <> 'done' OR business_key NOT IN (SELECT period FROM invoices)",
		"schedules open otherwise":  "SELECT count(*) FROM duly.tracks t WHERE open <> (SELECT count(*) FROM duly.occurrences o WHERE o.sid = t.sid AND o.state < 2)",
		"completions not in effect": "SELECT count(*) FROM duly.occurrences WHERE state = 2 AND created + coalesce(reused, 0) <> 1",
	} {
		if n := j.number(t, query); n != 0 {
			t.Errorf("%d %s", n, wrong)
		}
	}
	for state := range 9 {
		if counted, real := j.number(t, fmt.Sprintf("SELECT coalesce(sum(n%d), 0)::bigint FROM duly.tallies", state)), j.number(t, fmt.Sprint("SELECT count(*) FROM duly.occurrences WHERE state = ", state)); counted != real {
			t.Errorf("%d are counted in state %d, which has %d", counted, state, real)
		}
	}
}
