package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
	"github.com/duly-dev/duly/internal/plans"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
)

// Options tune a node. The zero value is ready to use.
type Options struct {
	// Name shows on every surface. Default: host name and process number.
	Name string
	// App is the owner under which Declare's schedules are kept; nodes of one
	// application share it. Default: the program's main module.
	App string
	// Slots is how many occurrences the node works on at once. Default 100.
	Slots int
	// DrainTime is how long running attempts may go on after Run's context
	// has ended, before they are cancelled and released. Default 20s.
	DrainTime time.Duration
	// CancelGrace is how long a cancelled handler may take to return before
	// its attempt is reported without it. Default 15s.
	CancelGrace time.Duration
	// SessionTTL is how long the node may be silent before it counts as gone.
	// Default 15s.
	SessionTTL time.Duration
	// Targets run what is no handler, by capability ("exec", "http").
	// Default: none, so that such occurrences are left to other nodes.
	Targets map[string]target.Runner
	// CallbackURL is the server's address that a target which answered 202
	// reports to. Default: none.
	CallbackURL string
	// FireLimit is how many due schedules are fired in one transaction.
	// Default 1000.
	FireLimit int
	// History is how long an occurrence is kept after it ended, with its
	// attempts and the audit. A period that is gone from history is made anew by
	// whoever asks for it. Effects are kept for ever. Default: for ever.
	History time.Duration
	// ClockError is added to the process's clock wherever the node reads it.
	// It is for drills, which show that a wrong clock does no harm. Default 0.
	ClockError time.Duration
	// Logger receives what operators should know. Default slog.Default().
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	host, _ := os.Hostname()
	if o.Name == "" {
		o.Name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if o.App == "" {
		o.App = "main"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
			o.App = info.Main.Path
		}
	}
	if o.Slots <= 0 {
		o.Slots = 100
	}
	if o.DrainTime <= 0 {
		o.DrainTime = 20 * time.Second
	}
	if o.CancelGrace <= 0 {
		o.CancelGrace = 15 * time.Second
	}
	if o.SessionTTL <= 0 {
		o.SessionTTL = 15 * time.Second
	}
	if o.FireLimit <= 0 {
		o.FireLimit = 1000
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Handler is code that does a kind of work. It should stop when ctx ends:
// context.Cause then says why (target.ErrTimeout, ErrCancelled, ErrLeaseLost,
// ErrDraining). A nil error means done; see duly.Permanent, duly.RetryAfter
// and duly.ErrUncertain for the others.
type Handler func(ctx context.Context, occ *Occurrence) error

// Node is one process taking part.
type Node struct {
	store    store.Store
	ownStore bool
	opt      Options
	log      *slog.Logger
	plans    *plans.Cache
	stats    Stats

	mu       sync.Mutex
	handlers map[string]Handler
	declared []store.Definition
	running  bool
	session  int64 // 0 before the first join

	active    activeSet
	reports   reportQueue
	alone     alone
	unheard   unheard
	wake      chan struct{} // the dispatcher has something to look at
	freed     chan struct{} // slots became free after a full claim
	clock     clock
	available availability
	heldFor   time.Duration // the dispatcher's: its last pause for what others hold
	draining  atomic.Bool
}

// Open opens a store and makes a node of it. The store's package must be
// imported, as in
//
//	import _ "github.com/duly-dev/duly/store/sqlite"
//
// Close closes both.
func Open(ctx context.Context, storeURL string, opt Options) (*Node, error) {
	st, err := store.Open(ctx, storeURL, store.Options{})
	if err != nil {
		return nil, err
	}
	n := New(st, opt)
	n.ownStore = true
	return n, nil
}

// New makes a node of a store that the caller keeps and closes.
func New(st store.Store, opt Options) *Node {
	opt = opt.withDefaults()
	n := &Node{
		store:    st,
		opt:      opt,
		log:      opt.Logger.With("node", opt.Name),
		handlers: map[string]Handler{},
		wake:     make(chan struct{}, 1),
		freed:    make(chan struct{}, 1),
	}
	n.plans = plans.New(st)
	n.clock.wrong = opt.ClockError
	n.active.init()
	n.reports.init()
	n.alone.init(opt.Name)
	return n
}

// Close closes the store if Open opened it.
func (n *Node) Close() error {
	if !n.ownStore {
		return nil
	}
	return n.store.Close()
}

// Store gives access to what the node stands on, for reading and control.
func (n *Node) Store() store.Store { return n.store }

// Name is the node's name on every surface.
func (n *Node) Name() string { return n.opt.Name }

// Handle names code that does the work of schedules whose target is
// { handler: name }. All handlers must be named before Run.
func (n *Node) Handle(name string, fn Handler) {
	if err := duly.CheckID(name); err != nil {
		panic("node: handler name " + err.Error())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running {
		panic("node: Handle(" + name + ") after Run: name every handler before, so that the node claims only what it can do")
	}
	if n.handlers[name] != nil {
		panic("node: handler " + name + " is named twice")
	}
	n.handlers[name] = fn
}

// Declare says that this program's code carries a schedule. All nodes that
// declare the same one share it. It answers what is wrong with the definition
// at once; it is sent to the store when the node runs.
func (n *Node) Declare(s duly.Schedule) error {
	p, faults := plan.Compile(s)
	if len(faults) > 0 {
		return faultsError(s.ID, faults)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running {
		return duly.Errorf(duly.CodeConflict, "schedule %s: declare schedules before Run", s.ID)
	}
	if slices.ContainsFunc(n.declared, func(d store.Definition) bool { return d.Schedule.ID == s.ID }) {
		return duly.Errorf(duly.CodeConflict, "schedule %s is declared twice", s.ID)
	}
	n.declared = append(n.declared, store.Definition{Schedule: s, Next: p.Next})
	return nil
}

// faultsError makes one error of all that is wrong with a definition.
func faultsError(id string, faults []*duly.Error) error {
	err := &duly.Error{Code: duly.CodeInvalid, Field: faults[0].Field}
	err.Message = "schedule " + id + ": "
	for i, f := range faults {
		if i > 0 {
			err.Message += "; "
		}
		err.Message += f.Error()
	}
	err.Field = ""
	return err
}

// Run takes part until ctx ends, then drains: it claims nothing new, gives
// running attempts DrainTime, and cancels and releases what is left. It
// returns nil after an orderly end. A store that cannot be reached is no
// reason to return: the node waits and joins when it is back.
func (n *Node) Run(ctx context.Context) error {
	n.mu.Lock()
	if n.running {
		n.mu.Unlock()
		return duly.Errorf(duly.CodeConflict, "this node is running already")
	}
	n.running = true
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		n.running = false
		n.mu.Unlock()
	}()

	// Work outlives ctx by the drain; loops that serve running attempts end
	// with serve, after everything else has.
	serve, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	var serving sync.WaitGroup
	start := func(loop func(context.Context)) {
		serving.Add(1)
		go func() { defer serving.Done(); loop(serve) }()
	}
	start(n.keep)
	start(n.report)
	start(n.keepSession)
	start(n.watch)
	start(n.trim)
	start(func(serve context.Context) { n.standAlone(ctx, serve) })

	n.dispatch(ctx)
	n.drain()

	stopServing()
	serving.Wait()
	n.leave(n.sessionID())
	return nil
}

// capabilities lists what the node can run, sorted.
func (n *Node) capabilities() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var caps []string
	for name := range n.handlers {
		caps = append(caps, duly.Target{Handler: name}.Capability())
	}
	for name := range n.opt.Targets {
		caps = append(caps, name)
	}
	slices.Sort(caps)
	return caps
}

func (n *Node) info() store.NodeInfo {
	host, _ := os.Hostname()
	return store.NodeInfo{
		Name: n.opt.Name, Host: host, PID: os.Getpid(), Version: duly.Version,
		TZData: cron.TZDataVersion(), Capabilities: n.capabilities(), Slots: n.opt.Slots, TTL: n.opt.SessionTTL,
	}
}

// signal wakes a loop that waits on ch; a wake-up that is pending suffices.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
