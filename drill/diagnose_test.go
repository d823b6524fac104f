package drill

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
)

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// second is a moment of a made-up play.
func second(s float64) time.Time {
	return time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

func TestEachMistakeHasItsWords(t *testing.T) {
	const occ = "invoices@2026-11-28"
	lost := duly.Attempt{Number: 1, Token: 7, Outcome: duly.AttemptLost, StartedAt: second(0)}
	done := duly.Attempt{Number: 2, Token: 8, Outcome: duly.AttemptSucceeded, StartedAt: second(2)}
	begin := func(s float64, token int64, n int) Mark {
		return Mark{At: second(s), Kind: MarkBegin, Occurrence: occ, Attempt: n, Token: token}
	}
	effect := func(s float64, token int64, n int) Mark {
		return Mark{At: second(s), Kind: MarkEffect, Occurrence: occ, Attempt: n, Token: token, Key: "invoice/1"}
	}
	of := func(state duly.State, attempts ...duly.Attempt) []duly.Occurrence {
		return []duly.Occurrence{{ID: occ, State: state, Attempts: attempts, Covers: []string{"2026-11-28"}}}
	}
	failed := duly.Attempt{Number: 2, Token: 8, Outcome: duly.AttemptFailed, Error: "exit status 1", Output: "UNIQUE constraint failed"}
	killed := duly.Attempt{Number: 1, Token: 7, Outcome: duly.AttemptReleased, Error: "the node is draining; the command, or what it had started, was still there 2s after SIGTERM and was killed"}
	covering := of(duly.Succeeded, done)
	covering[0].Covers = []string{"2026-11-27", "2026-11-28"}

	tests := map[string]struct {
		found found
		want  string // what the first sentence begins with, empty for silence
		says  string // and holds
	}{
		"NoBusinessKeyWhereALaterAttemptHasTheEffectAgain": {found{
			repeated: 1, delivers: 1, history: of(duly.Succeeded, lost, done),
			marks: []Mark{begin(0, 7, 1), effect(1, 7, 1), begin(2, 8, 2), effect(3, 8, 2)},
		}, WhyNoKey, "Attempt 2 of invoices@2026-11-28 had the effect again that attempt 1"},
		"NoFenceWhereAnEarlierAttemptHasTheEffectLate": {found{
			repeated: 1, delivers: 1, history: of(duly.Succeeded, lost, done),
			marks: []Mark{begin(0, 7, 1), begin(2, 8, 2), effect(3, 8, 2), effect(4, 7, 1)},
		}, WhyNoFence, "Attempt 1 of invoices@2026-11-28 (token 7) had its effect 2s after attempt 2 (token 8)"},
		"NoBusinessKeyWhereOneAttemptIsDeliveredTwice": {found{
			repeated: 1, delivers: 2, history: of(duly.Succeeded, done),
			marks: []Mark{begin(2, 8, 2), begin(2, 8, 2), effect(3, 8, 2), effect(3, 8, 2)},
		}, WhyNoKey, "to look first and write then is not enough"},
		"NoBusinessKeyWhereNobodyKnowsWhoseTheEffectsAre": {found{
			repeated: 1, delivers: 1, history: of(duly.Succeeded, lost, done),
		}, WhyNoKey, "1 repeated effect."},
		"NotReusedWhereALaterAttemptFailsOnTheKey": {found{
			delivers: 1, history: of(duly.Failed, lost, failed), marks: []Mark{begin(0, 7, 1), effect(1, 7, 1), {Kind: MarkKill}},
		}, WhyNotReused, "UNIQUE constraint failed"},
		"MissingWhereSuccessWasReportedWithoutTheEffect": {found{
			missing: 1, delivers: 1, history: of(duly.Succeeded, lost, done), owedEffects: 1,
		}, WhyMissing, "exit 75"},
		"CoversUnreadWhereOnePeriodOfSeveralIsWorkedOn": {found{
			missing: 1, effects: 1, owedEffects: 2, delivers: 1, history: covering,
		}, WhyCoversUnread, "covers 2 periods"},
		"LeaseTooShortWhereOneIsLostInACalm": {found{
			calm: true, delivers: 1, history: of(duly.Succeeded, lost, done),
		}, WhyShortLease, "although nothing was broken"},
		"NothingToSayOfALostAttemptThatWasStruck": {found{
			delivers: 1, history: of(duly.Succeeded, lost, done),
		}, "", ""},
		"DeafWhereTheEffectComesAfterSIGTERM": {found{
			repeated: 1, delivers: 2, history: of(duly.Succeeded, done),
			marks: []Mark{begin(0, 7, 1), {At: second(1), Kind: MarkTerm, Token: 7}, effect(3, 7, 1)},
		}, WhyDeaf, "had its effect after that"},
		"DeafWhereACommandHadToBeKilled": {found{
			delivers: 1, history: of(duly.Succeeded, killed, done),
		}, WhyDeaf, "end on SIGTERM"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			why := tt.found.diagnose(&Options{Lease: time.Second, Job: &Job{}})
			if tt.want == "" {
				if len(why) > 0 {
					t.Errorf("says %q", why)
				}
				return
			}
			last := ""
			if len(why) > 0 {
				last = why[len(why)-1]
			}
			if len(why) > 1 && tt.want != WhyDeaf || !strings.HasPrefix(last, tt.want+": ") || !strings.Contains(last, tt.says) {
				t.Errorf("says %q\nwant %s: … %s …", why, tt.want, tt.says)
			}
		})
	}
}

func TestOwnersThatOverlapAreFound(t *testing.T) {
	fine := []duly.Attempt{
		{Number: 1, Token: 3, StartedAt: second(0), FinishedAt: second(1)},
		{Number: 2, Token: 5, StartedAt: second(1), FinishedAt: second(2)},
	}
	if broken := checkOwners([]duly.Occurrence{{ID: "s@p", Attempts: fine}}); len(broken) > 0 {
		t.Errorf("finds %q", broken)
	}
	early, stale := fine[1], fine[1]
	early.StartedAt = second(0.5)
	stale.Token = 3
	for _, second := range []duly.Attempt{early, stale} {
		broken := checkOwners([]duly.Occurrence{{ID: "s@p", Attempts: []duly.Attempt{second, fine[0]}}})
		if len(broken) != 1 || !strings.HasPrefix(broken[0], "two owners: ") {
			t.Errorf("finds %q", broken)
		}
	}
}

func TestCountedEffectsAreAttributedByTheirKeyAndByWhoIsAtWork(t *testing.T) {
	const occ = "invoices@2026-11-28"
	at := func(s float64, kind MarkKind, node string, token int64, n int) Mark {
		return Mark{At: second(s), Kind: kind, Node: node, Occurrence: occ, Attempt: n, Token: token}
	}
	s := &stage{opt: &Options{Job: &Job{Exec: "x"}}, changed: make(chan struct{}), marks: []Mark{
		at(0, MarkBegin, "node-1", 1, 1),
		at(1, MarkStop, "node-1", 1, 1),
		at(2, MarkBegin, "node-2", 2, 2),
		at(4, MarkEnd, "node-2", 2, 2),
		at(5, MarkContinue, "node-1", 1, 1),
	}}
	for _, tt := range []struct {
		from, to float64
		attempt  int
	}{{0, 0.5, 1}, {2.5, 3, 2}, {3.9, 4.1, 2}, {4.5, 6, 1}} {
		if m, ok := s.whose(second(tt.from), second(tt.to), occ); !ok || m.Attempt != tt.attempt {
			t.Errorf("between %vs and %vs it is attempt %d's, want %d", tt.from, tt.to, m.Attempt, tt.attempt)
		}
	}
	s.markCounted(second(2.5), second(3), tally{keys: map[string]int{"ada|2026-11-28": 0}}, tally{keys: map[string]int{"ada|2026-11-28": 1, "bob|2026-11-28": 1}})
	last := s.marks[len(s.marks)-1]
	if last.Kind != MarkEffect || last.Attempt != 2 || last.Token != 2 || last.Text != "counted 2: ada|2026-11-28, bob|2026-11-28" {
		t.Errorf("marked %+v", last)
	}
	if m, _ := s.whose(second(3.9), second(5.1), occ); m.Attempt != 1 {
		t.Errorf("an attempt that has had its effect is taken for the one that wakes up: %d", m.Attempt)
	}
	// Where a job tells of its effects itself, counting adds nothing.
	s.marks = append(s.marks, Mark{At: second(3), Kind: MarkEffect, Key: "ada/2026-11-28"})
	for _, m := range s.settledMarks() {
		if m.wasCounted() {
			t.Errorf("kept %+v", m)
		}
	}
}
