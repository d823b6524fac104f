//go:build unix

package postgres

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/store/storetest"
)

func TestJoin(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, dsn string) beginner{"pgx": openPgx, "DatabaseSQL": openSQL} {
		t.Run(name, func(t *testing.T) {
			storetest.RunJoin(t, func(t *testing.T) string { return servers.Postgres(t).DSN }, func(t *testing.T, url string) storetest.App {
				return storetest.App{Begin: open(t, url), Elsewhere: open(t, servers.Postgres(t).DSN)}
			})
		})
	}
}

// Each of pgx's ways to run a statement has forms of its own for lists.
func TestJoinInEveryModeOfPgx(t *testing.T) {
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			storetest.RunJoin(t, func(t *testing.T) string { return servers.Postgres(t).DSN }, func(t *testing.T, url string) storetest.App {
				return storetest.App{Begin: openPgx(t, url+"&default_query_exec_mode="+mode), Elsewhere: openPgx(t, servers.Postgres(t).DSN)}
			})
		})
	}
}

// An application's transaction that stays open holds none of the rows in which
// the store counts, so that no commit waits for it.
func TestAnOpenTransactionHoldsNoCount(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s, claims := claimed(t, dsn, 3)
	begin := openPgx(t, dsn)
	var open []storetest.AppTx
	for _, c := range claims {
		native, tx, err := begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		if _, err := s.FinishIn(t.Context(), native, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}); err != nil {
			t.Fatal(err)
		}
		open = append(open, tx)
	}
	count := func(query string) int64 {
		n, err := look(t.Context(), s, func(c *conn) (int64, error) { return c.number(query) })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count("SELECT count(*) FROM (SELECT slot FROM duly.tallies WHERE slot < 128 FOR NO KEY UPDATE SKIP LOCKED) f"); n != 128 {
		t.Errorf("%d of 128 are free", n)
	}
	for _, tx := range open {
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if n := count("SELECT sum(n2)::bigint FROM duly.tallies"); n != 3 {
		t.Errorf("%d are counted as succeeded", n)
	}
	if n := count("SELECT count(*) FROM duly.tallies WHERE slot > 127"); n != 3 {
		t.Errorf("three transactions at once made %d rows", n)
	}
}

func TestAPlainAttemptIsFinishedByOneStatement(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s, claims := claimed(t, dsn, 1)
	claim := claims[0]
	for _, c := range []struct {
		token int64
		done  bool
	}{{claim.Token + 1, false}, {claim.Token, true}, {claim.Token, false}} { // the last has ended
		tx, err := s.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		j, err := s.join(t.Context(), tx)
		if err != nil {
			t.Fatal(err)
		}
		r := store.Report{Seq: claim.Seq, Token: c.token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}, Effects: []store.EffectReport{{Key: "k", Result: []byte("1")}}}
		if !isPlain(&r) {
			t.Fatal("it is not plain")
		}
		answer, done, err := j.finishPlain(&r)
		if err != nil || done != c.done || done && (answer.State != duly.Succeeded || answer.Schedule != claim.Schedule || answer.Period != claim.Period) {
			t.Errorf("token %d of %d: %+v, %v (%v)", c.token, claim.Token, answer, done, err)
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	o, err := s.Occurrence(t.Context(), duly.OccurrenceID(claim.Schedule, claim.Period))
	if err != nil || o.State != duly.Succeeded || len(o.Attempts) != 1 || o.Attempts[0].Effects.Created != 1 || len(o.Effects) != 1 || string(o.Effects[0].Result) != "1" {
		t.Errorf("%+v (%v)", o, err)
	}
}

// What an application's transaction holds is not waited for by people for as
// long as it stays open.
func TestPeopleAreToldThatAnOpenTransactionHoldsTheSchedule(t *testing.T) {
	t.Parallel()
	dsn := servers.Postgres(t).DSN
	s, claims := claimed(t, dsn, 1)
	c := claims[0]
	native, tx, err := openPgx(t, dsn)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.FinishIn(t.Context(), native, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}); err != nil {
		t.Fatal(err)
	}
	id := duly.OccurrenceID(c.Schedule, c.Period)
	now := store.NewOccurrence{Period: "now", Due: time.Now(), State: duly.Pending, Placement: store.Placement{Capability: "handler:h"}}
	var wg sync.WaitGroup
	for name, ask := range map[string]func() error{
		"cancel": func() error { return s.Cancel(t.Context(), id, "ann", "") },
		"pause":  func() error { return s.Pause(t.Context(), store.PauseRequest{Schedule: c.Schedule, By: "ann"}) },
		"trigger": func() error {
			_, err := s.Insert(t.Context(), store.InsertRequest{Schedule: c.Schedule, Occurrences: []store.NewOccurrence{now}})
			return err
		},
	} {
		wg.Go(func() {
			if err := ask(); duly.CodeOf(err) != duly.CodeUnavailable || !strings.Contains(err.Error(), "holds the schedule") {
				t.Errorf("%s is answered %v", name, err)
			}
		})
	}
	wg.Wait()
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := s.Pause(t.Context(), store.PauseRequest{Schedule: c.Schedule, By: "ann"}); err != nil {
		t.Errorf("after the commit: %v", err)
	}
}

// Connections come and go, and the rows in which they counted with them.
func TestTrimGathersTheCountsOfConnections(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s := mustOpen(t, dsn)
	if _, err := s.pool.Exec(t.Context(), "INSERT INTO duly.tallies (slot, n2, n19) SELECT 100000 + i, 1, -1 FROM generate_series(1, 3000) i"); err != nil {
		t.Fatal(err)
	}
	held, err := s.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Rollback(context.Background()) }()
	if _, err := held.Exec(t.Context(), "UPDATE duly.tallies SET n2 = 5 WHERE slot = 100007"); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := s.Trim(t.Context(), time.UnixMicro(1), 1000); err != nil {
			t.Fatal(err)
		}
	}
	if err := held.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := look(t.Context(), s, func(c *conn) (int64, error) { return c.number("SELECT count(*) FROM duly.tallies") }); err != nil || n > manyTallies {
		t.Errorf("%d rows are left (%v)", n, err)
	}
	counts := func(column string) int64 {
		n, err := look(t.Context(), s, func(c *conn) (int64, error) { return c.number("SELECT sum(" + column + ")::bigint FROM duly.tallies") })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n2, n19 := counts("n2"), counts("n19"); n2 != 3004 || n19 != -3000 {
		t.Errorf("they count %d and %d", n2, n19)
	}
}

// claimed opens a store with n attempts that are running.
func claimed(t *testing.T, dsn string, n int) (*Store, []store.Claim) {
	t.Helper()
	s, fire := dueOnce(t, dsn)
	if _, err := fire(everyDue); err != nil {
		t.Fatal(err)
	}
	res, err := s.Claim(t.Context(), store.ClaimRequest{Max: n, Capabilities: []string{"handler:h"}})
	if err != nil || len(res.Claims) != n {
		t.Fatal(res, err)
	}
	return s, res.Claims
}

type beginner = func(context.Context) (any, storetest.AppTx, error)

const makeNotes = "CREATE TABLE IF NOT EXISTS notes (n integer)"

func openPgx(t *testing.T, dsn string) beginner {
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), makeNotes); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (any, storetest.AppTx, error) {
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{})
		if err != nil {
			return nil, storetest.AppTx{}, err
		}
		return tx, storetest.AppTx{
			Note: func(ctx context.Context) error {
				_, err := tx.Exec(ctx, "INSERT INTO notes VALUES (1)")
				return err
			},
			Notes: func(ctx context.Context) (n int, err error) {
				err = tx.QueryRow(ctx, "SELECT count(*) FROM notes").Scan(&n)
				return n, err
			},
			Commit: func() error { return tx.Commit(context.Background()) }, Rollback: func() error { return tx.Rollback(context.Background()) },
		}, nil
	}
}

func openSQL(t *testing.T, dsn string) beginner {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), makeNotes); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (any, storetest.AppTx, error) {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return nil, storetest.AppTx{}, err
		}
		return tx, storetest.AppTx{
			Note: func(ctx context.Context) error {
				_, err := tx.ExecContext(ctx, "INSERT INTO notes VALUES (1)")
				return err
			},
			Notes: func(ctx context.Context) (n int, err error) {
				err = tx.QueryRowContext(ctx, "SELECT count(*) FROM notes").Scan(&n)
				return n, err
			},
			Commit: tx.Commit, Rollback: tx.Rollback,
		}, nil
	}
}
