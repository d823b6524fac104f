package drill

import "context"

// Scenario is one thing that goes wrong in production.
type Scenario struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Does is what is done, Expects what must come of it, and Why why that
	// matters: a sentence or two each.
	Does    string `json:"does"`
	Expects string `json:"expects"`
	Why     string `json:"why"`
	// Exec and URL: it says something about a job of the user's own, as a
	// command or behind a URL.
	Exec bool `json:"exec"`
	URL  bool `json:"url"`

	play func(ctx context.Context, s *stage) error
}

// suits reports whether a scenario says something about a job.
func (s Scenario) suits(job *Job) bool {
	switch {
	case job == nil:
		return true
	case job.URL != "":
		return s.URL
	}
	return s.Exec
}

func (s Scenario) unsuited(job *Job) string {
	if s.Exec && job.URL != "" {
		return "a service behind a URL cannot be stopped from here"
	}
	return "it is about Duly alone, whatever the job"
}

// Names lists the scenarios' names.
func Names() []string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// Scenarios lists all of them, in the order in which they are reported.
func Scenarios() []Scenario {
	return []Scenario{
		{
			Name: "nodes", Title: "several nodes, one occurrence per period", play: playNodes, Exec: true, URL: true,
			Does:    "Three nodes share a store, and a schedule comes due again and again. Nothing is broken.",
			Expects: "One occurrence for each period, one attempt at each, each effect once.",
			Why:     "A schedule in every process of a scaled-out service is the usual way to send the same mail three times.",
		},
		{
			Name: "crash-before-effect", Title: "the node dies before the effect", play: playCrashBefore, Exec: true, URL: true,
			Does:    "The node that makes an attempt, and the job with it, get SIGKILL before the effect has happened.",
			Expects: "The lease runs out, another attempt follows, and the effect happens once. Nothing is lost.",
			Why:     "Work that was begun and not done must be found again by somebody else, without a person.",
		},
		{
			Name: "crash-after-effect", Title: "the node dies right after the effect", play: playCrashAfter, Exec: true, URL: true,
			Does:    "The node gets SIGKILL when the effect has happened and nobody has been told yet.",
			Expects: "Another attempt follows, since nobody can know; it finds the effect by its business key and does not repeat it.",
			Why:     "This instant is why no lock makes work happen exactly once: only the place where the effect is kept can tell.",
		},
		{
			Name: "pause-past-lease", Title: "a node is paused for longer than its lease", play: playPause, Exec: true, URL: true,
			Does:    "The node and its job get SIGSTOP before the effect. When the lease has run out another node does the work; then they get SIGCONT and go on where they stopped.",
			Expects: "The late writer finds itself refused: its fencing token is older than the one that was seen. Its report is refused as stale.",
			Why:     "Garbage collection, a suspended machine, a slow disk: whoever was paused does not know it, and no check before the pause can have helped.",
		},
		{
			Name: "store-lost", Title: "the store cannot be reached in the middle", play: playStoreLost, Exec: true, URL: true,
			Does:    "The way to the store is cut in the middle of attempts: for less than a lease, for longer, and between an effect and its report. On PostgreSQL connections break, on SQLite another process holds the file.",
			Expects: "A short cut costs nothing. In a long one the job is cancelled before its lease can have run out, and tried again. What had been done is reported late, or found done.",
			Why:     "A fail-over of the database must neither lose a night's work nor do it twice.",
		},
		{
			Name: "rolling-deploy", Title: "old and new versions side by side, restarted at random", play: playDeploy,
			Does:    "Nodes of an old version, with another cron pattern, are joined by new ones; old ones are killed, stopped and started again in between; in the end the new ones are taken back.",
			Expects: "The newest definition that a live node declares is in force: an old node that restarts does not bring the old pattern back, and the roll-back takes effect by itself. No period is lost or done twice.",
			Why:     "For some minutes of every deployment both versions run, and each of them believes in its own schedule.",
		},
		{
			Name: "clock-skew", Title: "clocks that are minutes apart", play: playSkew,
			Does:    "Three nodes run with clocks that are five minutes slow, right, and seven minutes fast.",
			Expects: "The store's clock decides: occurrences come neither early nor late nor twice, no lease ends early, and the wrong clocks are shown.",
			Why:     "A node whose clock is fast would otherwise bill tomorrow, and take over work whose lease has not run out.",
		},
		{
			Name: "duplicate-delivery", Title: "the same attempt delivered twice", play: playDuplicate, Exec: true, URL: true,
			Does:    "Each attempt is handed to the job twice at the same moment, with the same token, as a proxy does that repeats a request.",
			Expects: "One of the two has the effect. The other one waits for it and finds it done.",
			Why:     "The fencing token is the same in both, so it cannot help; a look whether it has been done comes too early. Only a unique key can decide.",
		},
		{
			Name: "crash-loop", Title: "a job that always kills its node", play: playCrashLoop,
			Does:    "Each attempt at one schedule kills the node that makes it; the node is started again. Another schedule shares the nodes.",
			Expects: "Lost attempts count: after the limit the occurrence is failed and waits for a person. The other schedule goes on.",
			Why:     "A poisonous job that is tried for ever takes the whole fleet down, one node after the other.",
		},
		{
			Name: "drain", Title: "SIGTERM in the middle of an attempt", play: playDrain, Exec: true, URL: true,
			Does:    "The node gets SIGTERM while it works: once with enough time to finish, and once with too little.",
			Expects: "With enough time the attempt succeeds. Otherwise the job is cancelled and given back, which does not count as a try, and another node does it. The process ends by itself, with exit code 0.",
			Why:     "Every deployment does this to every node.",
		},
		{
			Name: "slow-effect", Title: "an effect that takes longer than the lease", play: playSlow, Exec: true,
			Does:    "The job hangs in the middle for two and a half times the lease, while its node is well.",
			Expects: "The node renews the lease; the attempt keeps its ownership and has its effect once.",
			Why:     "A lease is not a time limit. A lock that simply expires hands slow work to a second worker while the first is still at it.",
		},
		{
			Name: "missed-dates", Title: "an outage over several business dates", play: playMissed, Exec: true, URL: true,
			Does:    "No node runs for five business dates, then nodes come back: with each catch-up policy.",
			Expects: "none records five missed dates, latest works on the last of them, all on each in order, and combine makes one occurrence that covers all five. No date disappears without a record.",
			Why:     "After a long week-end the question is which dates were worked on; silence is no answer.",
		},
	}
}
