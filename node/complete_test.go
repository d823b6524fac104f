package node_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
)

// joint is a world whose store is the application's database.
type joint struct {
	*world
	db *sql.DB
}

func inJoint(t *testing.T, test func(w *joint)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		file := filepath.Join(t.TempDir(), "app.db")
		st, err := store.Open(ctx, "sqlite:"+file+"?synchronous=off&poll=0", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		w := &joint{&world{t: t, ctx: ctx, st: st, ctl: control.New(st)}, db}
		defer func() {
			for _, stop := range w.stop {
				stop()
			}
			if err := errors.Join(db.Close(), st.Close()); err != nil {
				t.Error(err)
			}
		}()
		if _, err := db.ExecContext(ctx, "CREATE TABLE bills (period TEXT)"); err != nil {
			t.Fatal(err)
		}
		if err := effect.Migrate(ctx, effect.SQLite.DB(db)); err != nil {
			t.Fatal(err)
		}
		w.apply(duly.Schedule{
			ID: "bills", Timing: duly.Timing{Cron: "0 * * * *"}, Target: duly.Target{Handler: "work"},
			Retry: duly.Retry{MaxAttempts: 5, Backoff: duly.Duration(time.Second)},
		})
		test(w)
	})
}

// bill has the effect and completes, in one transaction that is left open.
func (w *joint) bill(ctx context.Context, occ *node.Occurrence) (*sql.Tx, error) {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	_, _, err = effect.Once(ctx, effect.SQLite.Tx(tx), "bill/"+occ.Period, func(ctx context.Context) (int, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO bills VALUES (?)", occ.Period)
		return 7, err
	})
	if err == nil {
		err = errors.Join(occ.SetResult("billed"), effect.Complete(ctx, effect.SQLite.Tx(tx)))
	}
	if err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// onceDue lets the first occurrence come due and be worked on for a while.
func (w *joint) onceDue(d time.Duration) duly.Occurrence {
	w.t.Helper()
	now := time.Now()
	time.Sleep(now.Truncate(time.Hour).Add(time.Hour + d).Sub(now))
	synctest.Wait()
	all := w.occurrences("bills")
	if len(all) != 1 {
		w.t.Fatalf("%d occurrences", len(all))
	}
	return w.occurrence(all[0].ID)
}

func (w *joint) wantBills(want int) {
	w.t.Helper()
	var n int
	if err := w.db.QueryRowContext(w.ctx, "SELECT count(*) FROM bills").Scan(&n); err != nil || n != want {
		w.t.Errorf("%d bills, want %d (%v)", n, want, err)
	}
}

func wantAttempts(t *testing.T, o duly.Occurrence, state duly.State, outcomes ...duly.Outcome) {
	t.Helper()
	var got []duly.Outcome
	for _, a := range o.Attempts {
		got = append(got, a.Outcome)
	}
	if o.State != state || fmt.Sprint(got) != fmt.Sprint(outcomes) {
		t.Fatalf("%s is %s (%s) after %v, want %s after %v", o.ID, o.State, o.Reason, got, state, outcomes)
	}
}

// heard collects a log.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) has(words string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Contains(h.text.String(), words)
}

func TestAHandlerCompletesInItsOwnTransaction(t *testing.T) {
	inJoint(t, func(w *joint) {
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			tx, err := w.bill(ctx, occ)
			if err != nil {
				return err
			}
			if err := tx.Commit(); err != nil {
				return err
			}
			// It has succeeded before the handler returns.
			o, err := w.st.Occurrence(ctx, occ.Assignment.Occurrence)
			if err == nil && o.State != duly.Succeeded {
				err = fmt.Errorf("it is %s after the commit", o.State)
			}
			if err != nil {
				w.t.Error(err)
			}
			return nil
		}))
		o := w.onceDue(time.Minute)
		wantAttempts(w.t, o, duly.Succeeded, duly.AttemptSucceeded)
		if a := o.Attempts[0]; a.Effects.Created != 1 || string(a.Result) != `"billed"` || len(o.Effects) != 1 || string(o.Effects[0].Result) != "7" {
			w.t.Errorf("recorded %+v with effects %+v", a, o.Effects)
		}
		w.wantBills(1)
	})
}

func TestAfterARollbackTheHandlersReturnValueDecides(t *testing.T) {
	inJoint(t, func(w *joint) {
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			tx, err := w.bill(ctx, occ)
			if err != nil {
				return err
			}
			if occ.Attempt == 1 {
				return errors.Join(tx.Rollback(), errors.New("thought better of it"))
			}
			return tx.Commit()
		}))
		o := w.onceDue(time.Minute)
		wantAttempts(w.t, o, duly.Succeeded, duly.AttemptFailed, duly.AttemptSucceeded)
		if a := o.Attempts[0]; !strings.Contains(a.Error, "thought better") {
			w.t.Errorf("the first attempt said %q", a.Error)
		}
		w.wantBills(1)
	})
}

func TestAfterARollbackTheAttemptGoesOnBeingOwned(t *testing.T) {
	inJoint(t, func(w *joint) {
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			tx, err := w.bill(ctx, occ)
			if err != nil {
				return err
			}
			if err := tx.Rollback(); err != nil {
				return err
			}
			select { // far longer than the lease
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(20 * time.Minute):
			}
			if tx, err = w.bill(ctx, occ); err != nil {
				return err
			}
			return tx.Commit()
		}))
		wantAttempts(w.t, w.onceDue(30*time.Minute), duly.Succeeded, duly.AttemptSucceeded)
		w.wantBills(1)
	})
}

func TestAnErrorAfterACommittedCompletionChangesNothingAndIsLogged(t *testing.T) {
	inJoint(t, func(w *joint) {
		log := &heard{}
		n, _ := w.start(w.st, node.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			tx, err := w.bill(ctx, occ)
			if err != nil {
				return err
			}
			return errors.Join(tx.Commit(), errors.New("tidying up failed"))
		}))
		wantAttempts(w.t, w.onceDue(time.Minute), duly.Succeeded, duly.AttemptSucceeded)
		if !log.has("had completed") || !log.has("tidying up failed") {
			w.t.Errorf("the log has %s", log.text.String())
		}
		_ = n
		w.wantBills(1)
	})
}

func TestAPanicAfterACommittedCompletionChangesNothing(t *testing.T) {
	inJoint(t, func(w *joint) {
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			tx, err := w.bill(ctx, occ)
			if err != nil {
				return err
			}
			if err := tx.Commit(); err != nil {
				return err
			}
			panic("after the commit")
		}))
		wantAttempts(w.t, w.onceDue(time.Minute), duly.Succeeded, duly.AttemptSucceeded)
		w.wantBills(1)
	})
}

func TestAHandlerMayGoOnAfterItHasCompleted(t *testing.T) {
	inJoint(t, func(w *joint) {
		w.start(w.st, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			tx, err := w.bill(ctx, occ)
			if err != nil {
				return err
			}
			if err := tx.Commit(); err != nil {
				return err
			}
			time.Sleep(10 * time.Minute) // tidies up, longer than its lease
			return nil
		}))
		wantAttempts(w.t, w.onceDue(30*time.Minute), duly.Succeeded, duly.AttemptSucceeded)
	})
}

func TestDoAndDoBatchCompleteWithTheirLastCommit(t *testing.T) {
	insert := func(ctx context.Context, tx *sql.Tx, period string) (int, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO bills VALUES (?)", period)
		return 7, err
	}
	for name, bill := range map[string]func(ctx context.Context, w *joint, occ *node.Occurrence) error{
		"Do": func(ctx context.Context, w *joint, occ *node.Occurrence) error {
			for i := range 4 {
				if _, _, err := effect.Do(ctx, effect.SQLite.DB(w.db), fmt.Sprint("bill/", i), func(ctx context.Context, tx *sql.Tx) (int, error) { return insert(ctx, tx, occ.Period) }); err != nil {
					return err
				}
			}
			_, _, err := effect.Do(effect.Completing(ctx), effect.SQLite.DB(w.db), "bill/4", func(ctx context.Context, tx *sql.Tx) (int, error) { return insert(ctx, tx, occ.Period) })
			return err
		},
		"DoBatch": func(ctx context.Context, w *joint, occ *node.Occurrence) error {
			_, _, err := effect.DoBatch(effect.Completing(ctx), effect.SQLite.DB(w.db), 2, []int{0, 1, 2, 3, 4}, func(i int) string { return fmt.Sprint("bill/", i) },
				func(ctx context.Context, tx *sql.Tx, missing []int) (all []int, err error) {
					for range missing {
						n, err := insert(ctx, tx, occ.Period)
						if err != nil {
							return nil, err
						}
						all = append(all, n)
					}
					return all, nil
				})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			inJoint(t, func(w *joint) {
				w.start(w.st, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
					if err := bill(ctx, w, occ); err != nil {
						return err
					}
					if o, err := w.st.Occurrence(ctx, occ.Assignment.Occurrence); err != nil || o.State != duly.Succeeded {
						w.t.Errorf("it is %s after the commit (%v)", o.State, err)
					}
					return errors.New("ignored")
				}))
				o := w.onceDue(time.Minute)
				wantAttempts(w.t, o, duly.Succeeded, duly.AttemptSucceeded)
				if a := o.Attempts[0]; a.Effects.Created != 5 || len(o.Effects) != 5 {
					w.t.Errorf("recorded %+v, effects %+v", a.Effects, o.Effects)
				}
				w.wantBills(5)
			})
		})
	}
}

func TestCompletionNeedsAStoreThatTakesPart(t *testing.T) {
	inJoint(t, func(w *joint) {
		w.start(&gate{Store: w.st}, node.Options{}, handle(func(ctx context.Context, occ *node.Occurrence) error {
			_, err := w.bill(ctx, occ)
			if duly.CodeOf(err) != duly.CodeInvalid {
				w.t.Errorf("code %q (%v)", duly.CodeOf(err), err)
			}
			return err
		}))
		o := w.onceDue(time.Second / 2)
		if len(o.Attempts) == 0 || o.Attempts[0].Outcome != duly.AttemptFailed {
			w.t.Errorf("attempts %+v", o.Attempts)
		}
		w.wantBills(0)
	})
}
