//go:build unix

package effect_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/internal/sqltest"
)

// The test binary plays other processes too, when this variable says which.
const roleVariable = "DULY_TEST_ROLE"

// part is what a process is to do, as JSON in the environment.
type part struct {
	Database sqltest.Database
	Rig      string // pgx, or the database's name
	Attempt  int    // and token
	Pause    string // at which point it waits for a line on its standard input
	Key      string
	Every    int
	Provider string // its address
	Lookup   bool
	KeyLife  time.Duration
	Timeout  time.Duration
}

const partVariable = "DULY_TEST_PART"

func playRole(role string) int {
	if role == "provider" {
		return playProvider()
	}
	var p part
	if err := json.Unmarshal([]byte(os.Getenv(partVariable)), &p); err != nil {
		fmt.Println("error", err)
		return 1
	}
	a, err := newActor(p)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	a.point("start")
	reused, err := map[string]func() (string, error){"do": a.do, "batch": a.batch, "external": a.external, "complete": a.complete}[role]()
	a.point("done")
	switch {
	case errors.Is(err, duly.ErrUncertain):
		fmt.Println("result uncertain")
	case err != nil:
		fmt.Println("result", duly.CodeOf(err), strings.ReplaceAll(err.Error(), "\n", " "))
	default:
		fmt.Println("result", reused)
	}
	return 0
}

// actor is a worker: an attempt in a process of its own.
type actor struct {
	part
	rig *rig
	ctx context.Context
	in  *bufio.Reader
}

func newActor(p part) (*actor, error) {
	db, err := sql.Open(p.Database.Driver, p.Database.DSN)
	if err != nil {
		return nil, err
	}
	a := &actor{part: p, rig: sqlRig(p.Database, db), ctx: owner(context.Background(), p.Attempt, nil), in: bufio.NewReader(os.Stdin)}
	if p.Rig == "pgx" {
		pool, err := pgxpool.New(context.Background(), p.Database.DSN)
		if err != nil {
			return nil, err
		}
		a.rig = pgxRig(p.Database, db, pool)
	}
	return a, nil
}

// point says where the process is, and waits there if it is to.
func (a *actor) point(name string) {
	fmt.Println("at", name)
	if a.Pause == name {
		if _, err := a.in.ReadString('\n'); err != nil {
			os.Exit(1) // nobody directs this process any more
		}
	}
}

func created(reused bool) string {
	if reused {
		return "reused"
	}
	return "created"
}

func (a *actor) do() (string, error) {
	_, reused, err := a.rig.do(a.ctx, a.Key, func(ctx context.Context, tx *txn) (Invoice, error) {
		inv, err := tx.bill(ctx, 7, "2027-01", fmt.Sprint("attempt ", a.Attempt))
		a.point("inside")
		return inv, err
	})
	return created(reused), err
}

// batch bills 500 customers, a.Every in a transaction.
func (a *actor) batch() (string, error) {
	billed := 0
	_, reused, err := a.rig.doBatch(a.ctx, customers(500), a.Every, invoiceKey("2027-01"), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
		if billed == 250 {
			a.point("half")
		}
		billed += len(missing)
		return tx.billAll(ctx, missing, "2027-01")
	})
	return fmt.Sprintf("%d created, %d reused", len(reused)-count(reused), count(reused)), err
}

func (a *actor) external() (string, error) {
	call := effect.Call[Invoice]{Call: a.charge, KeyLife: a.KeyLife, Timeout: a.Timeout}
	if a.Lookup {
		call.Lookup = a.lookup
	}
	_, reused, err := a.rig.external(a.ctx, a.Key, call)
	return created(reused), err
}

func (a *actor) charge(ctx context.Context, key string) (Invoice, error) {
	a.point("calling")
	inv, _, err := ask(ctx, http.MethodPost, a.Provider+"/charges", key)
	a.point("charged")
	return inv, err
}

func (a *actor) lookup(ctx context.Context, key string) (Invoice, bool, error) {
	return ask(ctx, http.MethodGet, a.Provider+"/charges", key)
}

// ask speaks to the provider.
func ask(ctx context.Context, method, url, key string) (inv Invoice, found bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return inv, false, err
	}
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return inv, false, err
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusNotFound {
		return inv, false, nil
	}
	if res.StatusCode != http.StatusOK {
		return inv, false, fmt.Errorf("provider: %s", res.Status)
	}
	return inv, true, json.NewDecoder(res.Body).Decode(&inv)
}

// playProvider is a payment provider with a memory for idempotency keys that
// DELETE /keys ends, as their life does, and a look-up of charges that does not
// forget.
func playProvider() int {
	var mu sync.Mutex
	remembered := map[string]Invoice{} // by key
	charges := map[string]Invoice{}    // the first of each key, for the look-up
	effects := 0
	var seen []string
	mux := http.NewServeMux()
	handle := func(pattern string, fn func(w http.ResponseWriter, key string)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			fn(w, r.Header.Get("Idempotency-Key"))
		})
	}
	handle("POST /charges", func(w http.ResponseWriter, key string) {
		seen = append(seen, key)
		inv, known := remembered[key]
		if !known {
			effects++
			inv = Invoice{Customer: 7, Note: fmt.Sprint("charge ", effects)}
			remembered[key] = inv
			if _, charged := charges[key]; !charged {
				charges[key] = inv
			}
		}
		_ = json.NewEncoder(w).Encode(inv)
	})
	handle("GET /charges", func(w http.ResponseWriter, key string) {
		inv, found := charges[key]
		if !found {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(inv)
	})
	handle("DELETE /keys", func(http.ResponseWriter, string) { clear(remembered) })
	handle("GET /books", func(w http.ResponseWriter, _ string) {
		_ = json.NewEncoder(w).Encode(books{Effects: effects, Keys: seen})
	})
	return serve(mux)
}

// books is what a provider has on file.
type books struct {
	Effects int
	Keys    []string // of all calls
}
