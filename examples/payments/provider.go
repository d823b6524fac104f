package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Provider is somebody else's payment service. It remembers idempotency keys
// for a while, can be asked what became of a reference, and its answers can get
// lost: the money is taken, and the caller does not learn of it.
type Provider struct {
	KeyLife time.Duration
	// Lose loses the first answer to each new charge.
	Lose bool

	mu       sync.Mutex
	charges  []Charge
	keys     map[string]remembered
	requests int // for charges
}

// Charge is money taken.
type Charge struct {
	ID        string `json:"id"`
	Customer  string `json:"customer"`
	Cents     int64  `json:"cents"`
	Reference string `json:"reference"` // the shop's own name for it
}

type remembered struct {
	charge Charge
	until  time.Time
}

// Handler answers POST /charges and GET /charges?reference=.
func (p *Provider) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", p.charge)
	mux.HandleFunc("GET /charges", p.list)
	return mux
}

func (p *Provider) charge(w http.ResponseWriter, r *http.Request) {
	var c Charge
	key := r.Header.Get("Idempotency-Key")
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&c); err != nil || key == "" {
		http.Error(w, "a charge and an Idempotency-Key are needed", http.StatusBadRequest)
		return
	}
	c, again := p.take(key, c)
	fmt.Printf("%s charge %s of %s: %s\n", time.Now().Format(time.TimeOnly), c.ID, c.Reference, map[bool]string{true: "asked for again with the same key", false: "money taken"}[again])
	if p.Lose && !again {
		panic(http.ErrAbortHandler) // cuts the connection
	}
	w.WriteHeader(map[bool]int{true: http.StatusOK, false: http.StatusCreated}[again])
	_ = json.NewEncoder(w).Encode(c) // a caller who has gone asks again
}

// take takes the money, unless the key is one that is remembered.
func (p *Provider) take(key string, c Charge) (_ Charge, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	if known, ok := p.keys[key]; ok && time.Now().Before(known.until) {
		return known.charge, true
	}
	c.ID = fmt.Sprintf("ch_%d", len(p.charges)+1)
	p.charges = append(p.charges, c)
	if p.keys == nil {
		p.keys = map[string]remembered{}
	}
	p.keys[key] = remembered{c, time.Now().Add(p.KeyLife)}
	return c, false
}

func (p *Provider) list(w http.ResponseWriter, r *http.Request) {
	reference := r.URL.Query().Get("reference")
	found := []Charge{}
	p.mu.Lock()
	for _, c := range p.charges {
		if cmp.Or(reference, c.Reference) == c.Reference {
			found = append(found, c)
		}
	}
	p.mu.Unlock()
	_ = json.NewEncoder(w).Encode(found)
}

// Serve answers until ctx ends, then counts.
func (p *Provider) Serve(ctx context.Context, listen string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Printf("The payment provider answers at http://%s; it remembers keys for %v. Ctrl-C counts.\n", l.Addr(), p.KeyLife)
	srv := &http.Server{Handler: p.Handler(), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = srv.Close() })()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	references := map[string]bool{}
	for _, c := range p.charges {
		references[c.Reference] = true
	}
	fmt.Printf("\n  %d requests, %d charges for %d references: %d charged twice\n\n", p.requests, len(p.charges), len(references), len(p.charges)-len(references))
	return nil
}
