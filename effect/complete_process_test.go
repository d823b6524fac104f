//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/postgres"
	_ "github.com/duly-dev/duly/store/sqlite"
)

// storeURL names the store that is in a database of the application.
func storeURL(d sqltest.Database) (string, error) {
	if d.Dialect == "postgres" {
		return d.DSN, nil
	}
	u, err := url.Parse(d.DSN)
	return "sqlite:" + u.Path, err
}

// joint is an application whose database holds Duly's store, with one occurrence
// that is due.
type joint struct {
	*rig
	st store.Store
	id string
}

func newJoint(t *testing.T, d sqltest.Database, open func(testing.TB, sqltest.Database) *rig, lease time.Duration) *joint {
	t.Helper()
	u, err := storeURL(d)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), u, store.Options{}) // before the application makes its tables
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	j := &joint{rig: prepared(t, open(t, d)), st: st}
	ctl := control.New(st)
	_, err = ctl.Apply(t.Context(), control.ApplyRequest{Owner: "test", By: "test", Schedules: []duly.Schedule{{
		ID: "bills", Timing: duly.Timing{Cron: "0 0 1 1 *"}, Target: duly.Target{Handler: "bill"}, Lease: duly.Duration(lease),
		Retry: duly.Retry{MaxAttempts: 10, Backoff: duly.Duration(10 * time.Millisecond)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	o, err := ctl.Trigger(t.Context(), control.TriggerRequest{Schedule: "bills", By: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j.id = o.ID
	return j
}

func eachJoint(t *testing.T, test func(t *testing.T, j *joint)) {
	for _, c := range []struct {
		name string
		base func(testing.TB) sqltest.Database
		open func(testing.TB, sqltest.Database) *rig
	}{{"sqlite", sqltest.SQLite, openSQL}, {"postgres", servers.Postgres, openSQL}, {"pgx", servers.Postgres, openPGX}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, newJoint(t, c.base(t), c.open, time.Second))
		})
	}
}

func (j *joint) occurrence(t *testing.T) duly.Occurrence {
	t.Helper()
	o, err := j.st.Occurrence(t.Context(), j.id)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Between the effect and its completion there is no crash: they are one commit.
func TestB83_KilledRightAfterTheCommitThatCompletedThereIsNoSecondAttempt(t *testing.T) {
	for _, how := range []string{"committed", "done by hand"} {
		t.Run(how, func(t *testing.T) {
			eachJoint(t, func(t *testing.T, j *joint) {
				p := j.worker(t, "complete", part{Pause: how})
				p.await("at " + how)
				p.kill()
				o := j.occurrence(t)
				if o.State != duly.Succeeded || len(o.Attempts) != 1 || o.Attempts[0].Outcome != duly.AttemptSucceeded || o.Attempts[0].Effects.Created != 1 || len(o.Effects) != 1 {
					t.Fatalf("after the kill %+v", o)
				}
				j.want(t, 1, 1)
				// And whatever comes later, there is nothing to reap or to claim.
				later := time.Now().Add(time.Hour)
				reaped, err := j.st.Reap(t.Context(), store.ReapRequest{Now: later, Decide: func(store.Expired) store.Next { return store.Next{State: duly.Pending} }})
				if err != nil || len(reaped.Lost) != 0 {
					t.Errorf("reaped %+v (%v)", reaped.Lost, err)
				}
				claimed, err := j.st.Claim(t.Context(), store.ClaimRequest{Now: later, Max: 10, Capabilities: []string{"handler:bill"}})
				if err != nil || len(claimed.Claims) != 0 {
					t.Errorf("claimed %+v (%v)", claimed.Claims, err)
				}
			})
		})
	}
}

// A completion that was never committed is none.
func TestB83_KilledBetweenCompleteAndCommitTheNextAttemptHasTheOneEffect(t *testing.T) {
	eachJoint(t, func(t *testing.T, j *joint) {
		p := j.worker(t, "complete", part{Pause: "joined"})
		p.await("at joined")
		if o := j.occurrence(t); o.State != duly.Running {
			t.Errorf("before the commit it is %s", o.State)
		}
		p.kill()
		j.worker(t, "complete", part{}).want("attempt 2")
		o := j.occurrence(t)
		if o.State != duly.Succeeded || len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptLost || o.Attempts[1].Outcome != duly.AttemptSucceeded || o.Attempts[1].Effects.Created != 1 {
			t.Fatalf("in the end %+v", o)
		}
		j.want(t, 1, 1)
	})
}

// A transaction that is open after it joined holds one occurrence and no more.
func TestAnOpenTransactionThatHasJoinedKeepsNoOtherLeaseFromBeingRenewed(t *testing.T) {
	for _, open := range []func(testing.TB, sqltest.Database) *rig{openSQL, openPGX} {
		j := newJoint(t, servers.Postgres(t), open, 9*time.Second) // which is to be renewed after three
		ctl := control.New(j.st)
		other := duly.Schedule{ID: "other", Timing: duly.Timing{Cron: "0 0 1 1 *"}, Target: duly.Target{Handler: "other"}, Lease: duly.Duration(time.Second)}
		if _, err := ctl.Apply(t.Context(), control.ApplyRequest{Owner: "other", By: "test", Schedules: []duly.Schedule{other}}); err != nil {
			t.Fatal(err)
		}
		n := node.New(j.st, node.Options{Logger: slog.New(slog.DiscardHandler)})
		joined, outlived, ended := make(chan struct{}), make(chan struct{}), make(chan error, 2)
		n.Handle("bill", func(ctx context.Context, _ *node.Occurrence) error {
			tx, err := j.billAndComplete(ctx, "k", "")
			if err != nil {
				return err
			}
			close(joined)
			<-outlived // with its transaction open
			err = tx.commit()
			ended <- err
			return err
		})
		n.Handle("other", func(ctx context.Context, _ *node.Occurrence) error {
			defer close(outlived)
			<-joined
			select { // several times its lease
			case <-ctx.Done():
				ended <- context.Cause(ctx)
			case <-time.After(5 * time.Second):
				ended <- nil
			}
			return nil
		})
		if _, err := ctl.Trigger(t.Context(), control.TriggerRequest{Schedule: "other", By: "test"}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan error, 1)
		go func() { running <- n.Run(ctx) }()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
		stop()
		if err := <-running; err != nil {
			t.Error(err)
		}
		if o := j.occurrence(t); o.State != duly.Succeeded || len(o.Attempts) != 1 {
			t.Errorf("in the end %+v", o)
		}
		j.want(t, 1, 1)
	}
}

// What is said after a transaction has ended would commit by itself, and what
// travels with the completion can fail where the completion would not.
func TestNoAttemptIsCompletedWithoutItsEffect(t *testing.T) {
	for name, sabotage := range map[string]string{"the transaction is ended": "ROLLBACK", "the key is gone": "DELETE FROM duly_effects"} {
		t.Run(name, func(t *testing.T) {
			eachJoint(t, func(t *testing.T, j *joint) {
				n := node.New(j.st, node.Options{Logger: slog.New(slog.DiscardHandler)})
				ctx, stop := context.WithCancel(t.Context())
				var first error
				n.Handle("bill", func(ctx context.Context, occ *node.Occurrence) error {
					_, _, err := j.do(effect.Completing(ctx), "k", func(ctx context.Context, tx *txn) (Invoice, error) {
						if occ.Attempt == 1 {
							return Invoice{}, tx.exec(ctx, sabotage)
						}
						return tx.bill(ctx, 7, "2027-01", "")
					})
					if occ.Attempt == 1 {
						first = err
					} else {
						stop()
					}
					return err
				})
				if err := n.Run(ctx); err != nil {
					t.Error(err)
				}
				if first == nil {
					t.Error("it was told of no error")
				}
				if o := j.occurrence(t); o.State != duly.Succeeded || len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptFailed || o.Attempts[1].Outcome != duly.AttemptSucceeded {
					t.Errorf("in the end %+v", o)
				}
				j.want(t, 1, 1)
			})
		})
	}
}

func TestCompleteIsRefusedWhereNoAttemptCanJoin(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		tx, err := r.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		errorHas(t, effect.Complete(owner(t.Context(), 1, nil), tx), duly.CodeInvalid, "handler")
		errorHas(t, effect.Complete(effect.Unowned(t.Context()), tx), duly.CodeInvalid, "handler")
		errorHas(t, effect.Complete(t.Context(), nil), duly.CodeInvalid, "tx")
		if err := tx.rollback(); err != nil {
			t.Fatal(err)
		}
		_, _, err = r.do(effect.Completing(owner(t.Context(), 1, nil)), "k", func(ctx context.Context, x *txn) (Invoice, error) { return x.bill(ctx, 1, "p", "") })
		errorHas(t, err, duly.CodeInvalid, "handler")
	})
}

// What takes part is asked when the effect is there, and only by it.
func TestCompletingReachesNeitherIntoTheFunctionNorIntoOtherTransactionsOfABatch(t *testing.T) {
	var r *rig
	var completed [][]duly.EffectReport
	grant := duly.Grant{Occurrence: "invoices@2027-01", Attempt: 1, Token: 1, Resource: "schedule/invoices"}
	grant.Complete = func(_ context.Context, tx any, also []duly.EffectReport) error {
		if _, ok := tx.(*sql.Tx); !ok {
			t.Errorf("asked with a %T", tx)
		}
		completed = append(completed, also)
		return nil
	}
	r = prepared(t, openSQL(t, sqltest.SQLite(t)))
	ctx := effect.Completing(duly.WithGrant(t.Context(), grant))
	_, _, err := r.do(ctx, "outer", func(ctx context.Context, x *txn) (Invoice, error) {
		inner, _, err := effect.Once(ctx, x.Tx, "inner", biller(x, 2, "p", ""))
		if len(completed) != 0 {
			t.Error("completed inside of the function")
		}
		return inner, err
	})
	if err != nil || len(completed) != 1 || len(completed[0]) != 1 || completed[0][0].Key != "outer" {
		t.Fatalf("completed with %v (%v)", completed, err)
	}
	completed = nil
	_, _, err = r.doBatch(ctx, customers(5), 2, invoiceKey("p"), func(ctx context.Context, x *txn, missing []int) ([]Invoice, error) {
		return x.billAll(ctx, missing, "p")
	})
	if err != nil || len(completed) != 1 || len(completed[0]) != 1 {
		t.Fatalf("completed with %v (%v)", completed, err)
	}
}

// billAndComplete bills and completes in one transaction, which is left open.
func (r *rig) billAndComplete(ctx context.Context, key, note string) (*txn, error) {
	tx, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	if _, _, err = effect.Once(ctx, tx, key, biller(tx, 7, "2027-01", note)); err == nil {
		err = effect.Complete(ctx, tx)
	}
	if err != nil {
		_ = tx.rollback()
		return nil, err
	}
	return tx, nil
}

// complete is a node that works until it has done the occurrence once.
func (a *actor) complete() (string, error) {
	u, err := storeURL(a.Database)
	if err != nil {
		return "", err
	}
	st, err := store.Open(context.Background(), u, store.Options{})
	if err != nil {
		return "", err
	}
	defer st.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n := node.New(st, node.Options{Logger: slog.New(slog.DiscardHandler)})
	attempt := 0
	n.Handle("bill", func(ctx context.Context, occ *node.Occurrence) error {
		attempt = occ.Attempt
		if a.Pause == "committed" {
			_, _, err := a.rig.do(effect.Completing(ctx), a.Key, func(ctx context.Context, tx *txn) (Invoice, error) {
				return tx.bill(ctx, 7, "2027-01", fmt.Sprint("attempt ", occ.Attempt))
			})
			a.point("committed")
			return err
		}
		tx, err := a.rig.billAndComplete(ctx, a.Key, fmt.Sprint("attempt ", occ.Attempt))
		if err != nil {
			return err
		}
		a.point("joined")
		err = tx.commit()
		a.point("done by hand")
		stop()
		return err
	})
	err = n.Run(ctx)
	return fmt.Sprint("attempt ", attempt), err
}
