package drill

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// What can be missing in a job, in the words that a report begins with.
const (
	WhyNoKey        = "no business key"
	WhyNoFence      = "fence not checked"
	WhyNotReused    = "result not reused"
	WhyMissing      = "effect missing"
	WhyShortLease   = "lease too short"
	WhyDeaf         = "handler ignores cancellation"
	WhyCoversUnread = "covered periods ignored"
)

func mistakes() []string {
	return []string{WhyNoKey, WhyNoFence, WhyNotReused, WhyMissing, WhyShortLease, WhyDeaf, WhyCoversUnread}
}

// diagnose says what is wrong with the job, in words.
func (f *found) diagnose(opt *Options) (why []string) {
	why = append(why, f.whyRepeated()...)
	if late := f.afterSIGTERM(opt); late != "" {
		why = append(why, late)
	}
	if f.missing > 0 {
		why = append(why, f.whyMissing())
	}
	for i := range f.history {
		o := &f.history[i]
		if f.notReused(o) {
			why = append(why, fmt.Sprintf("%s: the effect of %s had happened, and a later attempt failed on that instead of taking its result: %s. Where the key exists, read the stored result and end well", WhyNotReused, o.ID, quoted(lastError(o))))
		}
		why = append(why, f.whyAttempts(o, opt)...)
	}
	return why
}

// whyRepeated tells an effect that was repeated by a later attempt from one
// that an earlier attempt had too late, and from one delivered twice.
func (f *found) whyRepeated() (why []string) {
	if f.repeated == 0 {
		return nil
	}
	what := plural(f.repeated, "repeated effect")
	if keys := f.after.repeatedKeys(f.before, 3); len(keys) > 0 {
		what += " (" + strings.Join(keys, ", ") + ")"
	}
	if f.delivers > 1 {
		return []string{fmt.Sprintf("%s: %s. The same attempt was delivered twice at the same moment and both deliveries had the effect; to look first and write then is not enough. Let a unique key for what the effect is (customer and period, not attempt or time) decide in the transaction that writes", WhyNoKey, what)}
	}
	late, again := f.lateAndAgain()
	if late != nil {
		why = append(why, fmt.Sprintf("%s: %s. Attempt %d of %s (token %d) had its effect %v after attempt %d (token %d) had taken over. Check DULY_FENCING_TOKEN in the transaction that writes, and refuse a smaller one than was seen",
			WhyNoFence, what, late.early.Attempt, late.early.Occurrence, late.early.Token, late.by.Round(time.Millisecond), late.later.Number, late.later.Token))
	}
	if again != nil {
		why = append(why, fmt.Sprintf("%s: %s. Attempt %d of %s had the effect again that attempt %d had had already. Store the effect under a unique key for what it is (customer and period, not attempt or time) in the transaction that writes, and take the stored result where it exists",
			WhyNoKey, what, again.later.Number, again.early.Occurrence, again.early.Attempt))
	}
	if len(why) == 0 {
		why = append(why, fmt.Sprintf("%s: %s. Store the effect under a unique key for what it is (customer and period, not attempt or time) in the transaction that writes", WhyNoKey, what))
	}
	return why
}

// afterSIGTERM looks for a repeated effect whose attempt had it although it had
// long been told to stop.
func (f *found) afterSIGTERM(opt *Options) string {
	const slack = 300 * time.Millisecond // an effect that is counted is seen a little late
	if f.repeated == 0 || opt.Job == nil {
		return ""
	}
	for _, term := range f.marks {
		told := term.At.Add(opt.Lease/2 + slack)
		for _, m := range f.marks {
			if term.Kind == MarkTerm && m.Kind == MarkEffect && m.Token == term.Token && m.Node == term.Node && m.At.After(told) {
				return fmt.Sprintf("%s: attempt %d of %s was told to stop (SIGTERM), and had its effect after that although it counts as given back: end on SIGTERM, or finish and end well in time", WhyDeaf, m.Attempt, m.Occurrence)
			}
		}
	}
	return ""
}

// repetition is an effect of an earlier attempt, and the later attempt that it
// stands against.
type repetition struct {
	early Mark
	later duly.Attempt
	by    time.Duration // how long after later had begun
}

// lateAndAgain looks for an effect that an attempt had after a later one had
// begun, and for one that it had before, which the later one then had again.
func (f *found) lateAndAgain() (late, again *repetition) {
	begun := map[int64]time.Time{} // by token
	for _, m := range f.marks {
		if _, known := begun[m.Token]; m.Kind == MarkBegin && !known {
			begun[m.Token] = m.At
		}
	}
	effects := map[string][]Mark{}
	for _, m := range f.marks {
		if m.Kind == MarkEffect {
			effects[m.Occurrence] = append(effects[m.Occurrence], m)
		}
	}
	for i := range f.history {
		o := &f.history[i]
		for _, m := range effects[o.ID] {
			for _, a := range o.Attempts {
				at, known := begun[a.Token]
				if a.Number <= m.Attempt || !known {
					continue
				}
				hadIt := slices.ContainsFunc(effects[o.ID], func(e Mark) bool { return e.Token == a.Token && (e.Key == m.Key || m.Key == "" || e.Key == "") })
				switch {
				case !hadIt:
				case m.At.After(at):
					late = &repetition{m, a, m.At.Sub(at)}
				default:
					again = &repetition{m, a, 0}
				}
			}
		}
	}
	return late, again
}

func (f *found) whyMissing() string {
	for _, o := range f.history {
		if len(o.Covers) > 1 && o.State == duly.Succeeded && f.effects < f.owedEffects {
			return fmt.Sprintf("%s: %d effects did not happen. %s covers %d periods (DULY_COVERS), after an outage under catch-up combine; the job must work on all of them", WhyCoversUnread, f.missing, o.ID, len(o.Covers))
		}
	}
	what := fmt.Sprintf("%s: %d effects did not happen, although the attempts that owed them reported success.", WhyMissing, f.missing)
	return what + " A job that finds its work locked or begun by another must not end well: exit 75 (or answer 503) says that it should be tried again"
}

// notReused reports whether an occurrence did not succeed, or not at once,
// although its effects were all there.
func (f *found) notReused(o *duly.Occurrence) bool {
	if o.State != duly.Failed || f.missing > 0 {
		return false
	}
	had := false
	for _, m := range f.marks {
		had = had || m.Kind == MarkEffect && m.Occurrence == o.ID
	}
	return had
}

// explained reports whether another sentence says why an occurrence is not in
// the state that it must be in.
func (f *found) explained(o *duly.Occurrence) bool { return f.notReused(o) }

// whyAttempts looks at how attempts ended.
func (f *found) whyAttempts(o *duly.Occurrence, opt *Options) (why []string) {
	for _, a := range byNumber(o.Attempts) {
		if a.Outcome == duly.AttemptLost && f.calm && opt.Job != nil { // the sample's own would be about this machine
			why = append(why, fmt.Sprintf("%s: attempt %d of %s lost its lease of %v although nothing was broken. Something kept its node from renewing it for that long: give the schedule a longer lease, or the machine more room", WhyShortLease, a.Number, o.ID, opt.Lease))
		}
		said := a.Error
		if a.Stale != nil {
			said += a.Stale.Error
		}
		if opt.Job != nil && (strings.Contains(said, "after SIGTERM and was killed") || strings.Contains(said, "did not return within")) {
			why = append(why, fmt.Sprintf("%s: attempt %d of %s was told to stop (SIGTERM) and was still there %v later. Until it ends it holds up its node, and can have effects that nobody expects any more: end on SIGTERM", WhyDeaf, a.Number, o.ID, killAfter))
		}
	}
	return why
}

// tell says of a pass what was seen of attempts and effects.
func (f *found) tell() (told []string) {
	lost, released, late, reused := 0, 0, 0, 0
	for _, o := range f.history {
		for _, a := range o.Attempts {
			switch a.Outcome {
			case duly.AttemptLost:
				lost++
			case duly.AttemptReleased:
				released++
			}
			if a.Late {
				late++
			}
		}
	}
	for _, m := range f.marks {
		if m.Kind == MarkReused {
			reused++
		}
	}
	for _, line := range []struct {
		n         int
		what, did string
	}{
		{lost, "attempt", "lost"},
		{released, "attempt", "given back"},
		{late, "late report", "accepted"},
		{reused, "effect", "found done and not repeated"},
	} {
		if line.n > 0 {
			told = append(told, fmt.Sprintf("%s %s", plural(line.n, line.what), line.did))
		}
	}
	if len(told) == 0 {
		return []string{"each effect happened once"}
	}
	return []string{strings.Join(told, "; ")}
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func quoted(s string) string { return fmt.Sprintf("%q", firstLine(s)) }
