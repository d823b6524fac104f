package drill

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/duly-dev/duly"
)

// Options say what to drill. Command is required.
type Options struct {
	// Command starts this program as a node of a drill: it must end up in
	// [RunNode].
	Command []string
	// Store is where scratch stores are made: "sqlite" for files in the
	// system's temporary folder, or a postgres:// URL, in whose database each
	// scenario gets a schema that is dropped afterwards. Default "sqlite".
	Store string
	// Scenarios are the names of those to play. Default: all that suit the job.
	Scenarios []string
	// Lease is the schedules' lease. Default 1s, the shortest there is.
	Lease time.Duration
	// Repeat is how often each scenario is played. The strikes at a job of the
	// user's own are spread over its attempt. Default 1.
	Repeat int
	// Parallel is how many scenarios are played at once. Default 4; 1 with a
	// job of the user's own, whose effects could not be told apart otherwise.
	Parallel int
	// Job is the user's own job. Default: the built-in sample.
	Job *Job
	// Watch, where set, is told what happens as it happens.
	Watch func(scenario string, m Mark)
	// Done, where set, is told of each scenario that has been played.
	Done func(Result)
}

// Job is a job of the user's own. Exactly one of Exec and URL is set.
type Job struct {
	// Exec is a shell command that makes one attempt.
	Exec string
	// URL receives a request for each attempt.
	URL string
	// Count is a shell command that prints the effects that there are: one
	// number, or a line for each effect's key with how often it happened as
	// the last column. Required: without it nothing can be said of effects.
	Count string
	// From is the first business date to use. The days that follow must not
	// have been worked on before. Default: a random one.
	From time.Time
	// Timeout bounds an undisturbed attempt. Default 1m.
	Timeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Store == "" {
		o.Store = "sqlite"
	}
	if o.Lease <= 0 {
		o.Lease = time.Second
	}
	if o.Repeat <= 0 {
		o.Repeat = 1
	}
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.Job == nil {
		return o
	}
	o.Parallel = 1
	job := *o.Job
	if job.From.IsZero() {
		job.From = time.Now().AddDate(-2, 0, -rand.IntN(5*365))
	}
	if job.Timeout <= 0 {
		job.Timeout = time.Minute
	}
	o.Job = &job
	return o
}

func (o *Options) check() error {
	if len(o.Command) == 0 {
		return duly.Invalid("command", "is missing")
	}
	if o.Lease < time.Second || o.Lease > time.Minute {
		return duly.Invalid("lease", "is %v; it must lie between 1s and 1m", o.Lease)
	}
	if j := o.Job; j != nil {
		if (j.Exec == "") == (j.URL == "") {
			return duly.Invalid("exec", "or url says which job to drill: exactly one of them")
		}
		if j.Count == "" {
			return duly.Invalid("count", "is missing: a command that prints how often each effect has happened, as in --count \"psql … -tAc 'select customer, period, count(*) from invoices group by 1, 2'\"")
		}
	}
	return nil
}

// Run plays scenarios and answers what came of them. A broken promise is no
// error: it is in the report. Errors: invalid (an option, a job that has no
// effect even when nothing disturbs it), unavailable (no scratch store could be
// made), the end of ctx.
func Run(ctx context.Context, opt Options) (*Report, error) {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := canSignal(); err != nil {
		return nil, err
	}
	chosen, err := choose(opt)
	if err != nil {
		return nil, err
	}
	report := &Report{Version: duly.Version, Store: storeKind(opt.Store), Job: opt.jobName(), StartedAt: time.Now(), Verdict: Pass}
	house := &house{opt: opt, dates: civil(time.Now()).AddDate(-5, 0, 0)}
	if opt.Job != nil {
		house.dates = civil(opt.Job.From)
		if err := house.rehearse(ctx); err != nil {
			return nil, err
		}
	}

	report.Scenarios = make([]Result, len(chosen))
	group, playing := errgroup.WithContext(ctx)
	group.SetLimit(opt.Parallel)
	for i, scenario := range chosen {
		group.Go(func() error {
			res, err := house.play(playing, scenario)
			if err != nil {
				return err
			}
			report.Scenarios[i] = res
			house.done(res)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, r := range report.Scenarios {
		if r.Verdict == Fail {
			report.Verdict = Fail
		}
	}
	report.DurationMS = time.Since(report.StartedAt).Milliseconds()
	return report, nil
}

func (o *Options) jobName() string {
	switch {
	case o.Job == nil:
		return "the built-in invoice sample"
	case o.Job.Exec != "":
		return o.Job.Exec
	}
	return o.Job.URL
}

// choose finds the scenarios that are asked for and suit the job.
func choose(opt Options) ([]Scenario, error) {
	var chosen []Scenario
	for _, s := range Scenarios() {
		asked := slices.Contains(opt.Scenarios, s.Name)
		if asked && !s.suits(opt.Job) {
			return nil, duly.Invalid("scenario", "%s says nothing about a job of your own: %s", s.Name, s.unsuited(opt.Job))
		}
		if asked || len(opt.Scenarios) == 0 && s.suits(opt.Job) {
			chosen = append(chosen, s)
		}
	}
	for _, name := range opt.Scenarios {
		if !slices.ContainsFunc(Scenarios(), func(s Scenario) bool { return s.Name == name }) {
			return nil, duly.Invalid("scenario", "%q does not exist; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return chosen, nil
}

// house is where the scenarios of one drill are played.
type house struct {
	opt    Options
	normal rehearsal // of the user's own job

	mu    sync.Mutex
	dates time.Time // the next business date that nobody has used
}

// play plays a scenario as often as it is wanted.
func (h *house) play(ctx context.Context, s Scenario) (Result, error) {
	res := Result{Name: s.Name, Title: s.Title}
	for round := range h.opt.Repeat {
		// The middle of each part: a single round strikes half-way.
		at := (float64(round) + 0.5) / float64(h.opt.Repeat)
		one, err := h.playOnce(ctx, s, at)
		if err != nil {
			return res, err
		}
		res.add(one)
	}
	return res, nil
}

func (h *house) done(res Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.opt.Done != nil {
		h.opt.Done(res)
	}
}

// days gives away n business dates, and one more that stays free.
func (h *house) days(n int) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.dates
	h.dates = first.AddDate(0, 0, n+1)
	return first
}

func civil(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
