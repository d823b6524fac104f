//go:build unix

package effect_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
)

// wire is a proxy before a database server's socket. Armed, it lets the next
// COMMIT through, waits for the server's answer, and cuts the connection instead
// of passing it on: committed, but nobody was told.
//
// Where left is above zero, it cuts the connection at that message of a client's,
// without passing it on.
type wire struct {
	armed atomic.Bool
	cuts  atomic.Int32
	left  atomic.Int32
}

var (
	postgresDir   = regexp.MustCompile(`host=([^&]*)`)
	mariadbSocket = regexp.MustCompile(`unix\(([^)]*)\)`)
)

// through puts a wire before a database.
func through(t *testing.T, d sqltest.Database) (sqltest.Database, *wire) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "duly-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var real, own string
	if d.Driver == "pgx" {
		name := ".s.PGSQL.5432"
		real, own = filepath.Join(postgresDir.FindStringSubmatch(d.DSN)[1], name), filepath.Join(dir, name)
		d.DSN = postgresDir.ReplaceAllString(d.DSN, "host="+dir)
	} else {
		real, own = mariadbSocket.FindStringSubmatch(d.DSN)[1], filepath.Join(dir, "s")
		d.DSN = mariadbSocket.ReplaceAllString(d.DSN, "unix("+own+")")
	}
	listener, err := net.Listen("unix", own)
	if err != nil {
		t.Fatal(err)
	}
	l := &wire{}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", real)
			if err != nil {
				t.Error(err)
				return
			}
			conns.Go(func() { l.carry(client, server) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		conns.Wait()
	})
	return d, l
}

func (l *wire) carry(client, server net.Conn) {
	var cut atomic.Bool
	var back sync.WaitGroup
	back.Go(func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := server.Read(buf)
			if cut.Load() { // the answer to the COMMIT, or to nothing that matters
				l.cuts.Add(1)
				break
			}
			if n > 0 {
				_, _ = client.Write(buf[:n])
			}
			if err != nil {
				break
			}
		}
		_ = client.Close()
	})
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			if l.left.Load() > 0 && l.left.Add(-1) == 0 {
				l.cuts.Add(1)
				break
			}
			if bytes.Contains(bytes.ToLower(buf[:n]), []byte("commit")) && l.armed.CompareAndSwap(true, false) {
				cut.Store(true)
			}
			_, _ = server.Write(buf[:n])
		}
		if err != nil {
			break
		}
	}
	if !cut.Load() {
		_ = server.Close()
	}
	back.Wait()
	_ = server.Close()
}

// eachLine runs a test on every database that has a connection to lose.
func eachLine(t *testing.T, test func(t *testing.T, r *rig, l *wire)) {
	run := func(name string, d sqltest.Database, open func(testing.TB, sqltest.Database) *rig) {
		t.Run(name, func(t *testing.T) {
			d, l := through(t, d)
			test(t, prepared(t, open(t, d)), l)
			if l.cuts.Load() == 0 {
				t.Error("nothing was lost, so this has shown nothing")
			}
		})
	}
	run("postgres", servers.Postgres(t), openSQL)
	run("pgx", servers.Postgres(t), openPGX)
	run("mariadb", servers.MariaDB(t), openSQL)
}

func TestACommitWhoseAnswerIsLostIsFoundAgain(t *testing.T) {
	eachLine(t, func(t *testing.T, r *rig, l *wire) {
		var h history
		l.armed.Store(true)
		inv, reused, err := r.do(owner(t.Context(), 1, &h), "k", func(ctx context.Context, tx *txn) (Invoice, error) { return tx.bill(ctx, 7, "p", "once") })
		if err != nil || reused || inv.Note != "once" {
			t.Errorf("%+v, reused %v, error %v; want the effect of this very call", inv, reused, err)
		}
		r.want(t, 1, 1)
		h.want(t, 1, 0)
	})
}

func TestABatchWhoseAnswerIsLostIsFoundAgain(t *testing.T) {
	eachLine(t, func(t *testing.T, r *rig, l *wire) {
		l.armed.Store(true)
		results, reused, err := r.doBatch(owner(t.Context(), 1, nil), customers(80), 40, invoiceKey("p"), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
			return tx.billAll(ctx, missing, "p")
		})
		if err != nil || count(reused) != 0 || results[39].Customer != 39 {
			t.Errorf("%d reused, error %v; want the effects of this very call", count(reused), err)
		}
		r.want(t, 80, 80)
	})
}

// Whichever of an external effect's commits loses its answer, it calls once.
func TestAnExternalEffectSurvivesLostAnswersOfTheDatabase(t *testing.T) {
	eachLine(t, func(t *testing.T, r *rig, l *wire) {
		var p provider
		for _, key := range []string{"intent", "record"} {
			if key == "intent" {
				l.armed.Store(true)
			}
			inv, reused, err := r.external(owner(t.Context(), 1, nil), key, effect.Call[Invoice]{Call: func(ctx context.Context, idempotencyKey string) (Invoice, error) {
				if key == "record" {
					l.armed.Store(true)
				}
				return p.charge(ctx, idempotencyKey)
			}})
			if err != nil || reused || !strings.HasPrefix(inv.Note, "charge") {
				t.Errorf("%s: %+v, reused %v, error %v", key, inv, reused, err)
			}
			r.wantEntry(t, key, effect.Done, 1)
		}
		if p.calls != 2 || l.cuts.Load() != 2 {
			t.Errorf("%d calls for two effects, %d answers lost", p.calls, l.cuts.Load())
		}
	})
}

// Whichever statement meets it, and however pgx calls it: the transaction begins
// anew, and effect and completion are one all the same.
func TestAConnectionThatIsCutAtAnyMessageIsReplaced(t *testing.T) {
	base := servers.Postgres(t)
	j := newJoint(t, base, openPGX, time.Minute)
	cut, l := through(t, base)
	ctl := control.New(j.st)
	r := *j.rig
	r.Database = cut
	done := 1
	eachMode(t, &r, func(t *testing.T, _ string, db effect.DB[pgx.Tx]) {
		for message := range int32(8) {
			for _, batch := range []bool{false, true} {
				claim := j.claim(t)
				ctx := effect.Completing(j.grant(t.Context(), claim))
				bill := func(ctx context.Context, tx pgx.Tx) error {
					_, err := tx.Exec(ctx, "INSERT INTO invoices (customer, period, note) VALUES (1, $1, '')", claim.Period)
					return err
				}
				l.left.Store(message)
				var err error
				if batch {
					_, _, err = effect.DoBatch(ctx, db, 0, []string{"a", "b"}, func(s string) string { return claim.Period + s },
						func(ctx context.Context, tx pgx.Tx, missing []string) ([]struct{}, error) {
							return make([]struct{}, 2), bill(ctx, tx)
						})
				} else {
					_, _, err = effect.Do(ctx, db, claim.Period, func(ctx context.Context, tx pgx.Tx) (struct{}, error) { return struct{}{}, bill(ctx, tx) })
				}
				l.left.Store(0)
				if err != nil {
					t.Errorf("cut at message %d, batch %v: %v", message, batch, err)
				}
				o, err := ctl.Trigger(t.Context(), control.TriggerRequest{Schedule: "bills", By: "test"})
				if err != nil {
					t.Fatal(err)
				}
				j.id = o.ID
				done++
			}
		}
	})
	done-- // the last one was not claimed
	if n := j.number(t, "SELECT count(*) FROM duly.occurrences WHERE state = 2"); n != done {
		t.Errorf("%d of %d have succeeded", n, done)
	}
	if n := j.number(t, "SELECT count(DISTINCT period) FROM invoices"); n != done || j.number(t, "SELECT count(*) FROM invoices") != done {
		t.Errorf("%d of %d are billed", n, done)
	}
	if n := j.number(t, "SELECT sum(n2)::bigint FROM duly.tallies"); n != done {
		t.Errorf("%d of %d are counted", n, done)
	}
}

// claim begins an attempt of what is due.
func (j *joint) claim(t *testing.T) store.Claim {
	t.Helper()
	res, err := j.st.Claim(t.Context(), store.ClaimRequest{Max: 1, Capabilities: []string{"handler:bill"}})
	if err != nil || len(res.Claims) != 1 {
		t.Fatalf("claimed %+v (%v)", res.Claims, err)
	}
	return res.Claims[0]
}

// grant is the context of an attempt, as a node makes it.
func (j *joint) grant(ctx context.Context, c store.Claim) context.Context {
	return duly.WithGrant(ctx, duly.Grant{
		Occurrence: duly.OccurrenceID(c.Schedule, c.Period), Attempt: c.Attempt, Token: c.Token, Resource: c.Resource(),
		Complete: func(ctx context.Context, tx any, told []duly.EffectReport) error {
			_, err := j.st.(store.Joiner).FinishIn(ctx, tx, store.Report{Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptSucceeded, Effects: told, Next: store.Next{State: duly.Succeeded}})
			return err
		},
	})
}

// A statement that meets it need not know what it has met.
func TestATransactionWhoseConnectionIsCutBeginsAnew(t *testing.T) {
	const messages = 12 // and more than there are
	try := func(t *testing.T, r *rig, l *wire) {
		for message := range int32(messages) {
			for _, batch := range []bool{false, true} {
				period := fmt.Sprint(message, batch)
				l.left.Store(message)
				var err error
				if batch {
					_, _, err = r.doBatch(owner(t.Context(), 1, nil), []int{1}, 0, invoiceKey(period), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
						return tx.billAll(ctx, missing, period)
					})
				} else {
					_, _, err = r.do(owner(t.Context(), 1, nil), period, func(ctx context.Context, tx *txn) (Invoice, error) { return tx.bill(ctx, 1, period, "") })
				}
				l.left.Store(0)
				if err != nil {
					t.Errorf("cut at message %d, batch %v: %v", message, batch, err)
				}
			}
		}
		r.want(t, 2*messages, 2*messages)
	}
	eachLine(t, try)
	for _, mode := range []string{"exec", "simple_protocol"} { // in which pgx says no more than that the connection is closed
		t.Run(mode, func(t *testing.T) {
			d, l := through(t, servers.Postgres(t))
			d.DSN += "&default_query_exec_mode=" + mode
			try(t, prepared(t, openSQL(t, d)), l)
		})
	}
}
