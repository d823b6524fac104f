package drill

import (
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// Verdict says whether promises were kept.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
)

// Report is what a drill found.
type Report struct {
	Verdict    Verdict   `json:"verdict"`
	Version    string    `json:"version"`
	Store      string    `json:"store"` // sqlite or postgres
	Job        string    `json:"job"`   // what was drilled, for people
	StartedAt  time.Time `json:"started_at"`
	DurationMS int64     `json:"duration_ms"`
	Scenarios  []Result  `json:"scenarios"`
}

// Result is what came of one scenario, all of its rounds together.
type Result struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	Verdict Verdict `json:"verdict"`
	// Rounds is how often it was played, Failed how many of them broke a
	// promise.
	Rounds      int `json:"rounds"`
	Failed      int `json:"failed_rounds"`
	Occurrences int `json:"occurrences"`
	Attempts    int `json:"attempts"`
	Effects     int `json:"effects"`
	// RepeatedEffects happened again; MissingEffects did not happen although
	// their occurrence was reported as done.
	RepeatedEffects int `json:"repeated_effects"`
	MissingEffects  int `json:"missing_effects"`
	// LostOccurrences were owed and do not exist, or came to no end.
	LostOccurrences int `json:"lost_occurrences"`
	// RecoveryMS is from the (first) strike to the end of the occurrence that
	// it hit, the longest of all rounds. 0 where nothing was hit.
	RecoveryMS int64 `json:"recovery_ms"`
	DurationMS int64 `json:"duration_ms"`
	// Why says what was broken and what is missing, or, of a pass, what was
	// seen.
	Why []string `json:"why"`
	// Timeline is that of the first round that failed, or of the last.
	Timeline Timeline `json:"timeline"`
}

// Timeline is what happened on the stage, in order. Times are of this machine.
type Timeline struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Nodes []string  `json:"nodes"`
	// Attempts are from the store's history: who held which token when.
	Attempts []Span `json:"attempts"`
	// Marks are what was seen and done: effects, signals, outages.
	Marks []Mark `json:"marks"`
}

// Span is the ownership of an occurrence by a node.
type Span struct {
	Node       string       `json:"node"`
	Occurrence string       `json:"occurrence"`
	Attempt    int          `json:"attempt"`
	Token      int64        `json:"token"`
	From       time.Time    `json:"from"`
	To         time.Time    `json:"to"`
	Outcome    duly.Outcome `json:"outcome"`
	Error      string       `json:"error,omitempty"`
	// Refused is set where the attempt reported after it had lost its
	// ownership: the outcome that it told of.
	Refused   duly.Outcome `json:"refused,omitempty"`
	RefusedAt time.Time    `json:"refused_at,omitzero"`
}

// Mark is one moment.
type Mark struct {
	At   time.Time `json:"at"`
	Kind MarkKind  `json:"kind"`
	// Node is empty for what happened to the store.
	Node       string `json:"node,omitempty"`
	Occurrence string `json:"occurrence,omitempty"`
	Attempt    int    `json:"attempt,omitempty"`
	Token      int64  `json:"token,omitempty"`
	Key        string `json:"key,omitempty"` // of an effect
	Text       string `json:"text,omitempty"`
}

// MarkKind is what kind of thing happened.
type MarkKind string

// The kinds of marks.
const (
	MarkStart    MarkKind = "start"    // a node's process
	MarkBegin    MarkKind = "begin"    // the job begins an attempt
	MarkEnd      MarkKind = "end"      // the job returned
	MarkEffect   MarkKind = "effect"   // it happened
	MarkReused   MarkKind = "reused"   // it was found done
	MarkKill     MarkKind = "kill"     // SIGKILL
	MarkTerm     MarkKind = "term"     // SIGTERM
	MarkStop     MarkKind = "stop"     // SIGSTOP
	MarkContinue MarkKind = "continue" // SIGCONT
	MarkExit     MarkKind = "exit"     // a node's process ended by itself
	MarkCut      MarkKind = "cut"      // the store cannot be reached
	MarkBack     MarkKind = "back"     // it can again
	MarkNote     MarkKind = "note"
)

// add joins a round's result to those before it.
func (r *Result) add(round Result) {
	r.Rounds++
	r.Occurrences += round.Occurrences
	r.Attempts += round.Attempts
	r.Effects += round.Effects
	r.RepeatedEffects += round.RepeatedEffects
	r.MissingEffects += round.MissingEffects
	r.LostOccurrences += round.LostOccurrences
	r.RecoveryMS = max(r.RecoveryMS, round.RecoveryMS)
	r.DurationMS += round.DurationMS
	firstFailure := round.Verdict == Fail && r.Failed == 0
	if round.Verdict == Fail {
		r.Failed++
	}
	switch {
	case firstFailure: // what is wrong outranks what was seen
		r.Verdict, r.Why, r.Timeline = Fail, nil, round.Timeline
		r.Why = union(r.Why, round.Why)
	case round.Verdict == Fail:
		r.Why = union(r.Why, round.Why)
	case r.Failed == 0:
		r.Verdict, r.Why, r.Timeline = Pass, round.Why, round.Timeline
	}
}

// maxWhy bounds the sentences about one scenario.
const maxWhy = 6

// union adds sentences that say something new: of each mistake one example is
// enough, however many rounds showed it.
func union(have, more []string) []string {
	for _, s := range more {
		known := slices.ContainsFunc(have, func(h string) bool { return h == s || mistake(s) != "" && mistake(h) == mistake(s) })
		if !known && len(have) < maxWhy {
			have = append(have, s)
		}
	}
	return have
}

// mistake is which mistake of a job's a sentence is about, if any.
func mistake(sentence string) string {
	word, _, _ := strings.Cut(sentence, ": ")
	if slices.Contains(mistakes(), word) {
		return word
	}
	return ""
}
