//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// admin is a connection beside the store's.
func admin(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(context.Background(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func mustExec(t testing.TB, c *pgx.Conn, query string, args ...any) {
	t.Helper()
	if _, err := c.Exec(context.Background(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func wantCode(t testing.TB, err error, want duly.Code) {
	t.Helper()
	if got := duly.CodeOf(err); got != want {
		t.Fatalf("code %q, want %q (%v)", got, want, err)
	}
}

// dueOnce is a store with one schedule that is due.
func dueOnce(t testing.TB, dsn string) (s *Store, fire func(plan store.PlanFunc) (store.FireResult, error)) {
	t.Helper()
	s = mustOpen(t, dsn)
	now := time.Now().Truncate(time.Minute)
	crowdSchedules(t, s, now, 1)
	return s, func(plan store.PlanFunc) (store.FireResult, error) {
		return s.Fire(context.Background(), store.FireRequest{Now: now.Add(time.Minute), Plan: plan})
	}
}

func TestAFiringWhoseConnectionIsCutHappensOnceWhenItIsRepeated(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	killer := admin(t, dsn)
	s, fire := dueOnce(t, dsn)
	cut := func(now time.Time, due []store.DueSchedule) []store.Firing {
		mustExec(t, killer, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'")
		return everyDue(now, due)
	}
	_, err := fire(cut)
	wantCode(t, err, duly.CodeUnavailable)
	// The server may take a moment to let go of what it had locked.
	res, err := fire(everyDue)
	for late := time.Now().Add(10 * time.Second); err == nil && len(res.Fired) == 0 && time.Now().Before(late); res, err = fire(everyDue) {
	}
	if err != nil || len(res.Fired) != 3 {
		t.Fatalf("fired %+v afterwards (%v)", res.Fired, err)
	}
	checkCounts(t, s)
}

func TestATransactionLeftIdleIsEndedByTheServer(t *testing.T) {
	s, fire := dueOnce(t, servers.Postgres(t).DSN+"&statement_timeout=1s")
	_, err := fire(func(now time.Time, due []store.DueSchedule) []store.Firing {
		time.Sleep(1500 * time.Millisecond) // the server's own clock is what is tested
		return everyDue(now, due)
	})
	wantCode(t, err, duly.CodeUnavailable)
	res, err := fire(everyDue)
	for late := time.Now().Add(10 * time.Second); err == nil && len(res.Fired) == 0 && time.Now().Before(late); res, err = fire(everyDue) {
	}
	if err != nil || len(res.Fired) != 3 {
		t.Fatalf("fired %+v afterwards (%v)", res.Fired, err)
	}
	checkCounts(t, s)
}

func TestAStatementThatWaitsTooLongIsUnavailable(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s, fire := dueOnce(t, dsn+"&statement_timeout=1s")
	if _, err := fire(everyDue); err != nil {
		t.Fatal(err)
	}
	claims, err := s.Claim(t.Context(), store.ClaimRequest{Max: 1, Capabilities: []string{"handler:h"}})
	if err != nil || len(claims.Claims) != 1 {
		t.Fatal(claims, err)
	}
	blocker := admin(t, dsn)
	mustExec(t, blocker, "BEGIN; LOCK TABLE duly.tracks")
	c := claims.Claims[0]
	report := []store.Report{{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Next: store.Next{State: duly.Succeeded}}}
	_, err = s.Finish(t.Context(), 0, report)
	wantCode(t, err, duly.CodeUnavailable)
	mustExec(t, blocker, "ROLLBACK")
	if done, err := s.Finish(t.Context(), 0, report); err != nil || done[0].Err != nil || done[0].State != duly.Succeeded {
		t.Fatalf("answered %+v (%v)", done, err)
	}
}

func TestAServerThatOnlyReadsIsUnavailableAndHeals(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s, fire := dueOnce(t, dsn)
	a := admin(t, dsn)
	var db string
	if err := a.QueryRow(t.Context(), "SELECT current_database()").Scan(&db); err != nil {
		t.Fatal(err)
	}
	mustExec(t, a, "ALTER DATABASE "+db+" SET default_transaction_read_only = on")
	s.pool.Reset()
	_, err := fire(everyDue)
	wantCode(t, err, duly.CodeUnavailable)
	if _, _, err := s.Schedules(t.Context(), store.ScheduleFilter{}, store.Page{}); err != nil {
		t.Fatal("cannot even read:", err)
	}
	mustExec(t, a, "SET default_transaction_read_only = off")
	mustExec(t, a, "ALTER DATABASE "+db+" RESET default_transaction_read_only")
	s.pool.Reset()
	if res, err := fire(everyDue); err != nil || len(res.Fired) != 3 {
		t.Fatalf("fired %+v afterwards (%v)", res.Fired, err)
	}
}

func TestTooManyConnectionsAreUnavailable(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	a := admin(t, dsn)
	var db string
	if err := a.QueryRow(t.Context(), "SELECT current_database()").Scan(&db); err != nil {
		t.Fatal(err)
	}
	role := "app_" + db
	mustExec(t, a, "CREATE ROLE "+role+" LOGIN CONNECTION LIMIT 1")
	mustExec(t, a, "GRANT CREATE ON DATABASE "+db+" TO "+role)
	mine := strings.Replace(dsn, "postgres://postgres@", "postgres://"+role+"@", 1)
	s := mustOpen(t, mine)
	pc, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Stats(t.Context())
	wantCode(t, err, duly.CodeUnavailable)
	if state(err) != tooManyConnections {
		t.Fatalf("the cause is %v", err)
	}
	pc.Release()
	if _, err := s.Stats(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestNobodyThereIsUnavailable(t *testing.T) {
	_, err := Open(t.Context(), "postgres://postgres@/x?host="+url.QueryEscape(t.TempDir()), store.Options{})
	wantCode(t, err, duly.CodeUnavailable)
}

func TestCollisionsAreRepeatedAndNothingElseIs(t *testing.T) {
	s := mustOpen(t, servers.Postgres(t).DSN)
	raise := func(code string) string {
		return fmt.Sprintf("DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '%s'; END $$", code)
	}
	for _, c := range []struct {
		sqlstate string
		tries    int
		want     duly.Code
	}{
		{"40P01", 3, ""}, {"40001", 3, ""}, {"53100", 1, duly.CodeUnavailable}, {"57P01", 1, duly.CodeUnavailable}, {"XX000", 1, duly.CodeInternal}, {"22012", 1, duly.CodeInternal},
	} {
		t.Run(c.sqlstate, func(t *testing.T) {
			tries := 0
			_, err := write(t.Context(), s, func(tx *tx) (int64, error) {
				if tries++; tries == 3 {
					return 1, nil
				}
				return tx.number(raise(c.sqlstate))
			})
			wantCode(t, err, c.want)
			if tries != c.tries {
				t.Errorf("tried %d times, want %d", tries, c.tries)
			}
		})
	}
}

func TestErrorsGoBySQLSTATE(t *testing.T) {
	s := &Store{cfg: config{name: "db"}}
	for code, want := range map[string]duly.Code{
		"08006": duly.CodeUnavailable, "25006": duly.CodeUnavailable, "25P03": duly.CodeUnavailable, "53100": duly.CodeUnavailable, "53200": duly.CodeUnavailable,
		"53300": duly.CodeUnavailable, "55P03": duly.CodeUnavailable, "57014": duly.CodeUnavailable, "57P01": duly.CodeUnavailable, "57P03": duly.CodeUnavailable,
		"58030": duly.CodeUnavailable, "40001": duly.CodeUnavailable, "26000": duly.CodeUnavailable, "28P01": duly.CodeInvalid, "3D000": duly.CodeInvalid,
		"42501": duly.CodeInvalid, "42P01": duly.CodeInvalid, "42601": duly.CodeInternal, "23505": duly.CodeInternal, "22P02": duly.CodeInternal,
	} {
		err := s.classify(fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: code, Message: "in any language"}))
		if duly.CodeOf(err) != want {
			t.Errorf("%s is %q, want %q", code, duly.CodeOf(err), want)
		}
	}
	if err := s.classify(errors.New("connection reset")); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("an error of the way there is %q", duly.CodeOf(err))
	}
	if err := s.classify(context.DeadlineExceeded); duly.CodeOf(err) != duly.CodeUnavailable {
		t.Errorf("an end of patience is %q", duly.CodeOf(err))
	}
}
