package store

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/duly-dev/duly"
)

// Opener opens a store. url is the whole of what the user gave, with its
// scheme.
type Opener func(ctx context.Context, url string, opt Options) (Store, error)

// Options are for every store.
type Options struct {
	// NoMigrate refuses a store whose schema is older than the program instead
	// of migrating it.
	NoMigrate bool
	// ReadOnly opens for looking only, never creating anything.
	ReadOnly bool
}

var (
	openersMu sync.RWMutex
	openers   = map[string]Opener{}
)

// Register makes a scheme known to Open. Packages of stores call it when they
// are imported.
func Register(scheme string, open Opener) {
	openersMu.Lock()
	defer openersMu.Unlock()
	if openers[scheme] != nil {
		panic("store: scheme " + scheme + " registered twice")
	}
	openers[scheme] = open
}

// Open opens the store that a URL names: sqlite:duly.db, postgres://….
func Open(ctx context.Context, url string, opt Options) (Store, error) {
	scheme, _, found := strings.Cut(url, ":")
	openersMu.RLock()
	open := openers[scheme]
	known := make([]string, 0, len(openers))
	for s := range openers {
		known = append(known, s)
	}
	openersMu.RUnlock()
	if !found || open == nil {
		slices.Sort(known)
		return nil, duly.Invalid("store", "%q names no store; write SCHEME:…, where the scheme is one of %s", url, strings.Join(known, ", "))
	}
	st, err := open(ctx, url, opt)
	if err != nil {
		return nil, err // and no interface around a store's own nil
	}
	return st, nil
}
