package drill

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/exec"
	httptarget "github.com/duly-dev/duly/target/http"
)

// nodeConfig is what a node of a drill is to be: the first line of its standard
// input.
type nodeConfig struct {
	Name       string          `json:"name"`
	Version    string          `json:"version,omitempty"`
	Store      string          `json:"store"`
	App        string          `json:"app,omitempty"` // the sample's database; empty: a job of the user's own
	Declare    []duly.Schedule `json:"declare,omitempty"`
	ClockError time.Duration   `json:"clock_error,omitempty"`
	DrainTime  time.Duration   `json:"drain_time,omitempty"`
	Gates      []gate          `json:"gates,omitempty"`
	// Deliveries is how often each attempt is handed to the job, at once.
	Deliveries int `json:"deliveries,omitempty"`
	// Work is how long the sample works before it has its effects, and Inside
	// how long in the transaction. Deaf: it does not look at its context.
	Work   time.Duration `json:"work,omitempty"`
	Inside time.Duration `json:"inside,omitempty"`
	Deaf   bool          `json:"deaf,omitempty"`
	// Markers is a folder for the files that commands name their effects in.
	Markers string `json:"markers,omitempty"`
}

// openGates is the one command that a node knows: the gates of the point that
// follows open for good.
const openGates = "open "

const (
	// sessionTTL is how long a killed node counts as alive: it bounds how long
	// what only it declares stays in force.
	sessionTTL = 2 * time.Second
	// cancelGrace is how long a cancelled job may take before its attempt is
	// reported without it.
	cancelGrace = 3 * time.Second
)

// RunNode is a node's process in a drill: the hidden command that
// Options.Command names calls it. It reads its configuration from in, writes
// what it does to out, a line each, and its log to errs. It ends with ctx, as a
// node does on SIGTERM, or when in ends, which says that the director is gone.
func RunNode(ctx context.Context, in io.Reader, out, errs io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewReader(in)
	first, err := lines.ReadBytes('\n')
	if err != nil {
		return duly.Invalid("stdin", "holds no configuration: this command is for `duly drill` alone")
	}
	var cfg nodeConfig
	if err := json.Unmarshal(first, &cfg); err != nil {
		return duly.Invalid("stdin", "holds no configuration: %v", err)
	}
	duly.Version = cmp.Or(cfg.Version, duly.Version)
	p := &performer{cfg: cfg, voice: newVoice(out), open: map[eventKind]*opening{saysBefore: newOpening(), saysAfter: newOpening()}}
	// A read of standard input cannot be called off, so this one ends with the
	// process.
	go p.listen(lines, cancel)

	st, err := openPatiently(ctx, cfg.Store)
	if err != nil {
		return err
	}
	defer st.Close()
	n := node.New(st, node.Options{
		Name: cfg.Name, App: "drill", Slots: 10, DrainTime: cfg.DrainTime, CancelGrace: cancelGrace, SessionTTL: sessionTTL,
		ClockError: cfg.ClockError, Targets: p.targets(), Logger: slog.New(slog.NewTextHandler(errs, nil)),
	})
	for _, s := range cfg.Declare {
		if err := n.Declare(s); err != nil {
			return err
		}
	}
	if cfg.App != "" {
		app, err := openSample(ctx, cfg.App)
		if err != nil {
			return err
		}
		defer app.Close()
		n.Handle(sampleHandler, func(ctx context.Context, occ *node.Occurrence) error { return p.handle(ctx, app, occ) })
	}
	p.voice.say(event{Kind: saysReady})
	return n.Run(ctx)
}

// openPatiently opens a store that may be out of reach just now.
func openPatiently(ctx context.Context, url string) (store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	for {
		st, err := store.Open(ctx, url, store.Options{})
		if err == nil || duly.CodeOf(err) == duly.CodeInvalid {
			return st, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// performer is what stands between a node and the job: it says what happens,
// and waits at gates.
type performer struct {
	cfg   nodeConfig
	voice *voice
	open  map[eventKind]*opening // by point
}

// opening is whether the gates of a point are open.
type opening struct {
	once sync.Once
	is   chan struct{} // closed when they are
}

func newOpening() *opening { return &opening{is: make(chan struct{})} }

func (p *performer) listen(lines *bufio.Reader, gone func()) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			gone()
			return
		}
		point, is := strings.CutPrefix(strings.TrimSpace(line), openGates)
		if gates := p.open[eventKind(point)]; is && gates != nil {
			gates.once.Do(func() { close(gates.is) })
		}
	}
}

// reach says that an attempt has come to a point, and waits there if a gate is
// shut.
func (p *performer) reach(ctx context.Context, point eventKind, a target.Assignment) error {
	shut := false
	for _, g := range p.cfg.Gates {
		shut = shut || g.Point == point && (g.Attempt == 0 || g.Attempt == a.Attempt) && (g.Period == "" || g.Period == a.Period)
	}
	p.say(point, a)
	if !shut {
		return nil
	}
	ended := ctx.Done()
	if p.cfg.Deaf {
		ended = nil
	}
	select {
	case <-p.open[point].is:
		return nil
	case <-ended:
		return context.Cause(ctx)
	}
}

func (p *performer) say(kind eventKind, a target.Assignment) {
	p.voice.say(event{Kind: kind, Occurrence: a.Occurrence, Period: a.Period, Attempt: a.Attempt, Token: a.Token})
}

func (p *performer) sayEffect(a target.Assignment, key string, reused bool) {
	kind := saysEffect
	if reused {
		kind = saysReused
	}
	p.voice.say(event{Kind: kind, Occurrence: a.Occurrence, Period: a.Period, Attempt: a.Attempt, Token: a.Token, Key: key})
}

func (p *performer) sayEnd(a target.Assignment, how string) {
	p.voice.say(event{Kind: saysEnd, Occurrence: a.Occurrence, Period: a.Period, Attempt: a.Attempt, Token: a.Token, Text: how})
}

// deliver hands an attempt to the job as often as it is to be, at once, and
// answers what the first delivery came to.
func deliver[R any](p *performer, once func(delivery int) R) R {
	var others sync.WaitGroup
	for d := 2; d <= p.cfg.Deliveries; d++ {
		others.Go(func() { once(d) })
	}
	res := once(1)
	others.Wait()
	return res
}

// handle is the sample's handler.
func (p *performer) handle(ctx context.Context, app *sample, occ *node.Occurrence) error {
	return deliver(p, func(int) error {
		p.say(saysBegin, occ.Assignment)
		err := p.invoice(ctx, app, occ)
		how := "done"
		if err != nil {
			how = err.Error()
		}
		p.sayEnd(occ.Assignment, how)
		return err
	})
}

func (p *performer) invoice(ctx context.Context, app *sample, occ *node.Occurrence) error {
	if p.cfg.Deaf { // its grant stays: the fence alone has to refuse it
		ctx = context.WithoutCancel(ctx)
	}
	if err := pause(ctx, p.cfg.Work); err != nil {
		return err
	}
	if err := p.reach(ctx, saysBefore, occ.Assignment); err != nil {
		return err
	}
	for _, period := range occ.Periods() {
		for _, customer := range customers {
			in := invoice{
				Customer: customer, Period: period, Node: p.cfg.Name, Attempt: occ.Attempt, Token: occ.Token,
				IssuedAt: time.Now().Add(p.cfg.ClockError),
			}
			reused, err := app.issue(ctx, in, p.cfg.Inside)
			if err != nil {
				return fmt.Errorf("invoice for %s: %w", customer, err)
			}
			p.sayEffect(occ.Assignment, in.key(), reused)
		}
	}
	return p.reach(ctx, saysAfter, occ.Assignment)
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// targets runs jobs of the user's own.
func (p *performer) targets() map[string]target.Runner {
	if p.cfg.App != "" {
		return nil
	}
	return map[string]target.Runner{
		"exec": &watched{performer: p},
		"http": &watched{performer: p, http: httptarget.New(httptarget.Options{})},
	}
}

// watched is a job of the user's own that is watched at its work.
type watched struct {
	*performer
	http *httptarget.Runner // nil: commands
}

// Run implements target.Runner.
func (w *watched) Run(ctx context.Context, a target.Assignment) target.Result {
	return deliver(w.performer, func(delivery int) target.Result {
		w.say(saysBegin, a)
		if err := w.reach(ctx, saysBefore, a); err != nil {
			return target.Stopped(ctx)
		}
		var res target.Result
		if w.http != nil {
			res = w.http.Run(ctx, a)
			for _, e := range res.Effects { // what the answer names
				w.sayEffect(a, e.Key, e.Reused)
			}
		} else {
			res = w.command(ctx, a, delivery)
		}
		if res.Outcome == duly.AttemptSucceeded {
			_ = w.reach(context.WithoutCancel(ctx), saysAfter, a) // it is done, whatever ends now
		}
		w.sayEnd(a, cmp.Or(res.Error, "done"))
		return res
	})
}

// command runs the job's command and listens to what it says of its effects.
func (w *watched) command(ctx context.Context, a target.Assignment, delivery int) target.Result {
	ears, err := listenTo(w.cfg.Markers, fmt.Sprintf("%s-%d-%d-%d", w.cfg.Name, a.Token, a.Attempt, delivery), func(m marker) {
		switch {
		case m.pid != 0:
			w.voice.say(event{Kind: saysCommand, Occurrence: a.Occurrence, Period: a.Period, Attempt: a.Attempt, Token: a.Token, PID: m.pid})
		default:
			w.sayEffect(a, m.key, m.reused)
		}
	})
	if err != nil {
		return target.Failed(err.Error())
	}
	defer ears.close()
	own := *a.Target.Exec
	own.Env = map[string]string{MarkerVariable: ears.file}
	a.Target.Exec = &own
	return exec.New(exec.Options{Stdout: ears, Stderr: io.Discard}).Run(ctx, a)
}
