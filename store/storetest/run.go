package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Fresh makes a new, empty store and answers its URL. The suite opens it, as
// often as it likes: to look at it after a restart, or as a second process
// would. What was made is removed when t ends.
type Fresh func(t *testing.T) (url string)

// Run proves that a store keeps the contract.
func Run(t *testing.T, fresh Fresh) {
	for _, g := range []struct {
		name string
		test func(*group)
	}{
		{"Fire", fire},
		{"FireOverlap", fireOverlap},
		{"Clock", clockSetBack},
		{"Ask", ask},
		{"Claim", claim},
		{"Order", order},
		{"Queue", queues},
		{"QueuePause", queuePause},
		{"Renew", renew},
		{"Finish", finish},
		{"Late", late},
		{"Effects", effects},
		{"OpenEffects", openEffects},
		{"Reap", reap},
		{"Definitions", definitions},
		{"Owners", owners},
		{"Declare", declare},
		{"Operator", operator},
		{"Insert", insert},
		{"Pause", pause},
		{"Nodes", nodes},
		{"Leases", leases},
		{"Reader", reader},
		{"Lists", lists},
		{"Unowned", unowned},
		{"Trim", trim},
		{"Events", events},
		{"States", states},
		{"Horizon", horizon},
		{"Repeat", repeat},
		{"Model", model},
	} {
		t.Run(g.name, func(t *testing.T) { g.test(&group{t, fresh}) })
	}
}

// group runs claims, each on a store of its own.
type group struct {
	t     *testing.T
	fresh Fresh
}

func (g *group) claim(name string, test func(e *env)) {
	g.t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(newEnv(t, g.fresh(t)))
	})
}

// env is a store under test with one node on it, and a clock that tests move
// forward.
type env struct {
	*testing.T
	ctx  context.Context
	url  string
	st   store.Store
	node int64
	now  time.Time
	// defs are the schedules that were applied, by ID.
	defs map[string]sched
}

const nodeName = "node-1"

func newEnv(t *testing.T, url string) *env {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	e := &env{T: t, ctx: ctx, url: url, now: time.Now().UTC().Truncate(time.Minute).Add(time.Minute), defs: map[string]sched{}}
	t.Cleanup(cancel)
	e.st = e.open()
	e.node = e.join(nodeName)
	return e
}

// open opens the store once more, as another process would.
func (e *env) open() store.Store {
	e.Helper()
	st, err := store.Open(e.ctx, e.url, store.Options{})
	e.must(err)
	e.Cleanup(func() { _ = st.Close() })
	return st
}

// reopen closes the store and opens it again.
func (e *env) reopen() {
	e.Helper()
	e.must(e.st.Close())
	e.st = e.open()
}

func (e *env) join(name string) int64 {
	e.Helper()
	id, err := e.st.Join(e.ctx, store.NodeInfo{Name: name, Host: "host", PID: 1, TZData: "2026a", TTL: time.Hour})
	e.must(err)
	return id
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// wantCode checks an error's code.
func (e *env) wantCode(err error, want duly.Code) {
	e.Helper()
	if got := duly.CodeOf(err); got != want {
		e.Fatalf("code %q, want %q (%v)", got, want, err)
	}
}

// wantEqual compares.
func wantEqual[T comparable](e *env, what string, got, want T) {
	e.Helper()
	if got != want {
		e.Fatalf("%s: got %v, want %v", what, got, want)
	}
}
