//go:build unix

package effect_test

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
)

// wire is a proxy before a database server's socket. Armed, it lets the next
// COMMIT through, waits for the server's answer, and cuts the connection instead
// of passing it on: committed, but nobody was told.
type wire struct {
	armed atomic.Bool
	cuts  atomic.Int32
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
