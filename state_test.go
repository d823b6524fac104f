package duly

import (
	"slices"
	"testing"
)

var allSteps = []Step{StepFire, StepInsert, StepClaim, StepFinish, StepReap, StepExpire, StepMerge, StepCancel, StepRetry, StepResolve}

// The properties that the table has to have, stated apart from it.
func TestTransitionTable(t *testing.T) {
	for _, to := range States {
		reached := slices.ContainsFunc(append([]State{""}, States...), func(from State) bool {
			return slices.ContainsFunc(allSteps, func(s Step) bool { return CanMove(from, s, to) })
		})
		if !reached {
			t.Errorf("nothing leads to %s", to)
		}
	}
	for _, from := range States {
		for _, step := range allSteps {
			for _, to := range States {
				if !CanMove(from, step, to) {
					continue
				}
				if step == StepFire || step == StepInsert {
					t.Errorf("%s makes an occurrence that exists (%s)", step, from)
				}
				if step == StepClaim && (from != Pending || to != Running) {
					t.Errorf("a claim leads from %s to %s", from, to)
				}
				if to == Running && step != StepClaim {
					t.Errorf("%s makes an occurrence run without a claim", step)
				}
				// What has ended stays ended, unless a person or a late but
				// unsuperseded report says otherwise.
				if !from.Open() && !slices.Contains([]Step{StepFinish, StepCancel, StepRetry, StepResolve}, step) {
					t.Errorf("%s moves %s, which has ended, to %s", step, from, to)
				}
				if from == Succeeded && step != StepRetry {
					t.Errorf("%s undoes a success", step)
				}
			}
		}
	}
}

func TestEveryStateHasAnEnd(t *testing.T) {
	for _, from := range []State{Pending, Running} {
		if !CanMove(from, StepFinish, Succeeded) {
			t.Errorf("%s cannot succeed", from)
		}
	}
	if len(Movable(StepClaim)) != 1 {
		t.Errorf("claims start from %v", Movable(StepClaim))
	}
	if got := Movable(StepRetry); slices.Contains(got, Pending) || slices.Contains(got, Running) || slices.Contains(got, Merged) {
		t.Errorf("a retry starts from %v", got)
	}
}

func TestOccurrenceIDs(t *testing.T) {
	for _, c := range []struct {
		id, schedule, period string
		ok                   bool
	}{
		{"invoices@2026-11-28", "invoices", "2026-11-28", true},
		{"team/a.b:c@2026-10-25T02+02:00", "team/a.b:c", "2026-10-25T02+02:00", true},
		{"invoices", "invoices", "", false},
		{"@2026-11-28", "", "2026-11-28", false},
		{"invoices@", "invoices", "", false},
	} {
		schedule, period, ok := SplitOccurrenceID(c.id)
		if schedule != c.schedule || period != c.period || ok != c.ok {
			t.Errorf("SplitOccurrenceID(%q) = %q, %q, %v", c.id, schedule, period, ok)
		}
		if ok && OccurrenceID(schedule, period) != c.id {
			t.Errorf("%q does not come back", c.id)
		}
	}
}
