package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly/effect"
)

// Shop is the application: it charges its customer once for each period.
type Shop struct {
	db     *sql.DB
	ledger effect.DB[*sql.Tx]

	Provider string        // its address
	Lookup   bool          // the provider can be asked about a reference
	KeyLife  time.Duration // how long it remembers keys, as its manual says
	Timeout  time.Duration // how long a call may take
	Crash    string        // die "before" or "after" the call to the provider
}

// Open opens the database and makes the effect ledger's tables.
func (s *Shop) Open(ctx context.Context, file string) (err error) {
	s.db, err = sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		return err
	}
	s.ledger = effect.SQLite.DB(s.db)
	if err := effect.Migrate(ctx, s.ledger); err != nil {
		s.db.Close()
		return fmt.Errorf("the shop's database %s: %w", file, err)
	}
	return nil
}

// Close closes the database.
func (s *Shop) Close() error { return s.db.Close() }

// ChargeOnce takes the customer's money for a period, once. Where an earlier
// attempt left its call without an answer, package effect finds out what became
// of it, or gives up with duly.ErrUncertain: then a person must.
func (s *Shop) ChargeOnce(ctx context.Context, period string) (Charge, bool, error) {
	bill := Charge{Customer: "ada", Cents: 1900, Reference: "charge/ada/" + period}
	call := effect.Call[Charge]{
		Call: func(ctx context.Context, idempotencyKey string) (Charge, error) {
			return s.charge(ctx, idempotencyKey, bill)
		},
		KeyLife: s.KeyLife,
		Timeout: s.Timeout,
	}
	if s.Lookup {
		call.Lookup = func(ctx context.Context, _ string) (Charge, bool, error) { return s.find(ctx, bill.Reference) }
	}
	return effect.External(ctx, s.ledger, bill.Reference, call)
}

func (s *Shop) charge(ctx context.Context, key string, bill Charge) (made Charge, err error) {
	if s.Crash == "before" {
		die()
	}
	body, err := json.Marshal(bill)
	if err != nil {
		return made, effect.NotDone(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Provider+"/charges", bytes.NewReader(body))
	if err != nil {
		return made, effect.NotDone(err)
	}
	req.Header.Set("Idempotency-Key", key)
	req.GetBody = nil // one request for one call: net/http is not to repeat it by itself
	res, err := http.DefaultClient.Do(req)
	if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
		return made, effect.NotDone(err) // it never reached the provider
	}
	if err != nil {
		return made, err // it may have
	}
	defer res.Body.Close()
	if res.StatusCode/100 == 4 {
		return made, effect.NotDone(fmt.Errorf("the provider refused: %s", res.Status))
	}
	if res.StatusCode/100 != 2 {
		return made, fmt.Errorf("the provider answered %s", res.Status)
	}
	err = json.NewDecoder(res.Body).Decode(&made)
	if s.Crash == "after" {
		die()
	}
	return made, err
}

func (s *Shop) find(ctx context.Context, reference string) (Charge, bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Provider+"/charges?reference="+url.QueryEscape(reference), nil)
	if err != nil {
		return Charge{}, false, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return Charge{}, false, err
	}
	defer res.Body.Close()
	var found []Charge
	if err := json.NewDecoder(res.Body).Decode(&found); err != nil || len(found) == 0 {
		return Charge{}, false, err
	}
	return found[0], true, nil
}

// Summary prints what the ledger says.
func (s *Shop) Summary(ctx context.Context, w io.Writer) error {
	states := map[effect.State]int{}
	for f := (effect.Filter{Prefix: "charge/"}); ; {
		page, next, err := effect.List(ctx, s.ledger, f)
		if err != nil {
			return err
		}
		for _, e := range page {
			states[e.State]++
		}
		if f.Cursor = next; next == "" {
			break
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %d payments done", states[effect.Done])
	if n := states[effect.Started]; n > 0 {
		fmt.Fprintf(&b, ", %d begun", n)
	}
	if n := states[effect.Uncertain]; n > 0 {
		fmt.Fprintf(&b, ", %d uncertain: somebody must ask the provider", n)
	}
	_, err := fmt.Fprintf(w, "%s\n\n", b.String())
	return err
}

// die is what kill -9 does, at exactly this place.
func die() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
	select {}
}
