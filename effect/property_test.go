//go:build unix

package effect_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqldb"
	"github.com/duly-dev/duly/internal/sqltest"
)

// impatient opens a database that answers at once, or nearly so, where it would
// otherwise let one transaction wait for another: so one goroutine can interleave
// transactions in every order.
func impatient(t *testing.T, d sqltest.Database) *rig {
	switch d.Name {
	case "sqlite":
		d.DSN = strings.NewReplacer("busy_timeout(10000)", "busy_timeout(0)", "&_txlock=immediate", "").Replace(d.DSN)
	case "postgres":
		d.DSN += "&lock_timeout=5"
	case "mariadb":
		d.DSN += "?innodb_lock_wait_timeout=0"
	}
	return prepared(t, openSQL(t, d))
}

// checks sets how many sequences are tried, on databases of differing speed.
func checks(t *testing.T, r *rig) {
	n := map[string]string{"sqlite": "150", "postgres": "60", "mariadb": "60"}[r.name]
	if testing.Short() {
		n = "10"
	}
	if err := flag.Set("rapid.checks", n); err != nil {
		t.Fatal(err)
	}
}

var sequences atomic.Int64 // names the resources and keys of each

// TestRandomInterleavingsNeverGiveTwoEffects lets attempts with growing tokens
// begin, have effects, fail, commit and be lost in every order.
func TestRandomInterleavingsNeverGiveTwoEffects(t *testing.T) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		r := impatient(t, d)
		checks(t, r)
		var seen tally
		defer seen.want(t, "committed effects", "stale refusals", "conflicts")
		rapid.Check(t, func(t *rapid.T) {
			m := &interleaving{r: r, id: fmt.Sprint(sequences.Add(1)), results: map[string]Invoice{}, seen: &seen}
			defer m.end()
			t.Repeat(map[string]func(*rapid.T){
				"":        m.check,
				"attempt": m.attempt,
				"begin":   m.begin,
				"effect":  m.effect,
				"fail":    m.fail,
				"batch":   m.batch,
				"commit":  m.commit,
				"lose":    m.lose,
			})
		})
	})
}

// interleaving is the model: what must be true of one sequence.
type interleaving struct {
	r        *rig
	id       string
	attempts []*tried
	// committed is the greatest token of which a write was committed.
	committed int64
	results   map[string]Invoice // of committed effects, by key
	seen      *tally
}

// tally counts what sequences have met: a property of nothing holds always.
type tally map[string]int

func (s *tally) count(what string) {
	if *s == nil {
		*s = tally{}
	}
	(*s)[what]++
}

func (s *tally) want(t *testing.T, what ...string) {
	t.Helper()
	t.Logf("met %v", *s)
	for _, w := range what {
		if (*s)[w] == 0 {
			t.Errorf("no %s in all sequences", w)
		}
	}
}

// tried is an attempt, with the transaction that it has open.
type tried struct {
	token   int64
	ctx     context.Context
	tx      *txn
	holds   bool               // has passed the fence in tx
	pending map[string]Invoice // effects had in tx
}

func (m *interleaving) key(n int) string { return fmt.Sprintf("sequence/%s/%d", m.id, n) }

func (m *interleaving) attempt(*rapid.T) {
	a := &tried{token: int64(len(m.attempts) + 1)}
	a.ctx = duly.WithGrant(context.Background(), duly.Grant{Occurrence: "s@" + m.id, Attempt: int(a.token), Token: a.token, Resource: "sequence/" + m.id})
	m.attempts = append(m.attempts, a)
}

// pick chooses an attempt with a transaction, or without one.
func (m *interleaving) pick(t *rapid.T, open bool) *tried {
	var some []*tried
	for _, a := range m.attempts {
		if (a.tx != nil) == open {
			some = append(some, a)
		}
	}
	if len(some) == 0 {
		t.SkipNow()
	}
	return rapid.SampledFrom(some).Draw(t, "attempt")
}

func (m *interleaving) begin(t *rapid.T) {
	a := m.pick(t, false)
	tx, err := m.r.begin(a.ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.tx, a.holds, a.pending = tx, false, map[string]Invoice{}
}

// bill has the effect of a key in the attempt's transaction.
func (m *interleaving) bill(a *tried, key string) func(context.Context) (Invoice, error) {
	return biller(a.tx, int(a.token), key, fmt.Sprint("attempt ", a.token))
}

func (m *interleaving) effect(t *rapid.T) {
	a := m.pick(t, true)
	key := m.key(rapid.IntRange(1, 3).Draw(t, "key"))
	inv, _, err := effect.Once(a.ctx, a.tx, key, m.bill(a, key))
	if m.passed(t, a, err) {
		a.pending[key] = inv
	}
}

func (m *interleaving) batch(t *rapid.T) {
	a := m.pick(t, true)
	results, _, err := effect.Batch(a.ctx, a.tx, []int{1, 2, 3}, m.key, func(ctx context.Context, missing []int) ([]Invoice, error) {
		made := make([]Invoice, len(missing))
		for i, n := range missing {
			var err error
			if made[i], err = m.bill(a, m.key(n))(ctx); err != nil {
				return nil, err
			}
		}
		return made, nil
	})
	if m.passed(t, a, err) {
		for i, inv := range results {
			a.pending[m.key(i+1)] = inv
		}
	}
}

// fail has an effect whose function fails after it has written. The transaction
// goes on.
func (m *interleaving) fail(t *rapid.T) {
	a := m.pick(t, true)
	key := m.key(rapid.IntRange(1, 3).Draw(t, "key"))
	_, reused, err := effect.Once(a.ctx, a.tx, key, func(ctx context.Context) (Invoice, error) {
		_, err := m.bill(a, key)(ctx)
		return Invoice{}, errors.Join(errBill, err)
	})
	if err == nil && !reused {
		t.Fatal("a failing function had an effect")
	}
	if errors.Is(err, errBill) && !effect.Retryable(m.r.dialect, err) {
		err = nil
	}
	m.passed(t, a, err)
}

// passed checks what a call answered against the fence, and ends the transaction
// where it can't go on.
func (m *interleaving) passed(t *rapid.T, a *tried, err error) bool {
	if err == nil {
		if a.token < m.committed {
			t.Fatalf("attempt %d passed the fence although %d has written", a.token, m.committed)
		}
		for _, other := range m.attempts {
			if other.tx != nil && other.holds && other.token != a.token {
				t.Fatalf("attempt %d passed the fence while %d held it", a.token, other.token)
			}
		}
		a.holds = true
		return true
	}
	if errors.Is(err, effect.ErrStale) && a.token >= m.committed {
		t.Fatalf("attempt %d was called stale, but only %d has written", a.token, m.committed)
	}
	switch {
	case errors.Is(err, effect.ErrStale):
		m.seen.count("stale refusals")
	case effect.Retryable(m.r.dialect, err):
		m.seen.count("conflicts")
	default:
		t.Fatal(err)
	}
	m.drop(a)
	return false
}

func (m *interleaving) drop(a *tried) {
	_ = a.tx.rollback()
	a.tx = nil
}

func (m *interleaving) lose(t *rapid.T) { m.drop(m.pick(t, true)) }

func (m *interleaving) commit(t *rapid.T) {
	a := m.pick(t, true)
	err := a.tx.commit()
	a.tx = nil
	if effect.Retryable(m.r.dialect, err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if a.holds {
		m.committed = max(m.committed, a.token)
	}
	for key, inv := range a.pending {
		if earlier, ok := m.results[key]; ok && earlier != inv {
			t.Fatalf("%s: attempt %d was told %+v, an earlier one %+v", key, a.token, inv, earlier)
		}
		m.results[key] = inv
		m.seen.count("committed effects")
	}
}

// check compares the database with the model: one invoice for each committed
// effect, and none besides.
func (m *interleaving) check(t *rapid.T) {
	rows, err := m.r.sql.Query(fmt.Sprintf("SELECT period, count(*) FROM invoices WHERE period LIKE 'sequence/%s/%%' GROUP BY period", m.id))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := 0
	for rows.Next() {
		var key string
		var n int
		if err := rows.Scan(&key, &n); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.results[key]; !ok || n != 1 {
			t.Fatalf("%s has %d invoices; committed: %v", key, n, ok)
		}
		found++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if found != len(m.results) {
		t.Fatalf("%d effects have an invoice, of %d committed", found, len(m.results))
	}
}

func (m *interleaving) end() {
	for _, a := range m.attempts {
		if a.tx != nil {
			m.drop(a)
		}
	}
}

// crashing is a database that a process has lost, once it is dead.
type crashing struct {
	effect.DB[*sql.Tx]
	dead bool
}

var errCrashed = duly.Invalid("db", "is that of a process that is dead") // which nothing tries again

func (c *crashing) Begin(ctx context.Context) (sqldb.Session[*sql.Tx], error) {
	if c.dead {
		return sqldb.Session[*sql.Tx]{}, errCrashed
	}
	return c.DB.Begin(ctx)
}

// TestRandomCrashesNeverGiveTwoExternalEffects lets attempts call a provider and
// crash before it, after it, or lose its answer, while time passes.
func TestRandomCrashesNeverGiveTwoExternalEffects(t *testing.T) {
	servers.Each(t, func(t *testing.T, d sqltest.Database) {
		r := prepared(t, openSQL(t, d))
		checks(t, r)
		var seen tally
		defer seen.want(t, "succeeds", "crashes before", "crashes after", "loses the answer", "is refused", "panics", "reused", "uncertain", "redone")
		rapid.Check(t, func(t *rapid.T) {
			m := &calling{seen: &seen, r: r, key: fmt.Sprint("external/", sequences.Add(1))}
			if rapid.Bool().Draw(t, "look-up") {
				m.call.Lookup = m.lookup
			}
			if rapid.Bool().Draw(t, "keys") {
				m.call.KeyLife = time.Hour
			}
			t.Repeat(map[string]func(*rapid.T){
				"":      m.check,
				"call":  m.attempt,
				"hours": m.pass,
				"redo":  m.redo,
			})
		})
	})
}

// calling is the model of one external effect.
type calling struct {
	r        *rig
	key      string
	call     effect.Call[Invoice]
	attempts int
	charges  []Invoice // effects the provider had
	known    bool      // the provider remembers the key
	age      time.Duration
	done     *Invoice
	excused  int // charges before a person said: do it again
	seen     *tally
}

func (m *calling) lookup(context.Context, string) (Invoice, bool, error) {
	if len(m.charges) == 0 {
		return Invoice{}, false, nil
	}
	return m.charges[0], true, nil
}

// attempt is one attempt, which may crash.
func (m *calling) attempt(t *rapid.T) {
	m.attempts++
	m.elapse(t, time.Hour/10) // nobody's call is under way any more
	fate := rapid.SampledFrom([]string{"succeeds", "crashes before", "crashes after", "loses the answer", "is refused", "panics"}).Draw(t, "the call")
	db := &crashing{DB: m.r.dialect.DB(m.r.sql)}
	call := m.call
	call.Call = func(context.Context, string) (Invoice, error) {
		m.seen.count(fate)
		switch fate {
		case "is refused":
			return Invoice{}, effect.NotDone(errRefused)
		case "crashes before":
			db.dead = true
			return Invoice{}, errLost
		}
		inv := m.charge()
		switch fate {
		case "crashes after":
			db.dead = true
		case "loses the answer":
			return Invoice{}, errLost
		case "panics":
			panic(errLost)
		}
		return inv, nil
	}
	ctx := duly.WithGrant(context.Background(), duly.Grant{Occurrence: "e@1", Attempt: m.attempts, Token: int64(m.attempts), Resource: m.key})
	inv, reused, err := func() (inv Invoice, reused bool, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = v.(error)
			}
		}()
		return effect.External(ctx, db, m.key, call)
	}()
	if errors.Is(err, duly.ErrUncertain) {
		m.seen.count("uncertain")
	}
	if err != nil {
		return
	}
	if reused {
		m.seen.count("reused")
	}
	if m.done != nil && *m.done != inv {
		t.Fatalf("attempt %d was told %+v, an earlier one %+v", m.attempts, inv, *m.done)
	}
	m.done = &inv
}

func (m *calling) charge() Invoice {
	if m.known && m.call.KeyLife > 0 {
		return m.charges[len(m.charges)-1]
	}
	m.charges = append(m.charges, Invoice{Customer: 7, Note: fmt.Sprint("charge ", len(m.charges)+1)})
	m.known, m.age = true, 0
	return m.charges[len(m.charges)-1]
}

// elapse lets time pass, in the ledger and at the provider, which forgets a key
// after its life.
func (m *calling) elapse(t *rapid.T, d time.Duration) {
	m.age += d
	if m.age >= time.Hour {
		m.known = false
	}
	_, err := m.r.sql.Exec(fmt.Sprintf("UPDATE duly_effects SET created_at = created_at - %d, claim_until = claim_until - %d WHERE business_key = '%s'", d.Microseconds(), d.Microseconds(), m.key))
	if err != nil {
		t.Fatal(err)
	}
}

func (m *calling) pass(t *rapid.T) {
	m.elapse(t, time.Duration(rapid.IntRange(1, 80).Draw(t, "minutes"))*time.Minute)
}

// redo is a person who knows that nothing has happened, or does not care.
func (m *calling) redo(t *rapid.T) {
	db := m.r.dialect.DB(m.r.sql)
	if e, err := effect.Get(t.Context(), db, m.key); err != nil || e.State != effect.Uncertain {
		t.SkipNow()
	}
	if err := effect.Resolve(t.Context(), db, m.key, effect.Resolution{Redo: true, By: "me"}); err != nil {
		t.Fatal(err)
	}
	m.excused = len(m.charges)
	m.seen.count("redone")
}

func (m *calling) check(t *rapid.T) {
	if n := len(m.charges) - m.excused; n > 1 {
		t.Fatalf("the provider had %d effects", n)
	}
	if m.done == nil {
		return
	}
	e, err := effect.Get(t.Context(), m.r.dialect.DB(m.r.sql), m.key)
	if err != nil || e.State != effect.Done {
		t.Fatalf("it was told done, but the ledger has it %s, error %v", e.State, err)
	}
}
