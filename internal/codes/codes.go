// Package codes numbers the words that SQL stores keep in narrow columns:
// states, waits, origins and outcomes. Files and partial indexes name the
// numbers, so an entry never moves, and new ones go to the end. Everything else
// about a table is its store's.
package codes

import "github.com/duly-dev/duly"

// The states. Those below Succeeded are open; those above Cancelled need
// attention.
const (
	Pending = iota
	Running
	Succeeded
	Skipped
	Merged
	Cancelled
	Failed
	Uncertain
	Missed
)

// What a pending occurrence waits for; 0 is nothing.
const (
	WaitSlot = iota + 1
	WaitTime
	WaitEarlier
)

// OutcomeLost is the number of duly.AttemptLost.
const OutcomeLost = 3

// States lists the states by their numbers.
func States() [9]duly.State {
	return [...]duly.State{
		Pending: duly.Pending, Running: duly.Running, Succeeded: duly.Succeeded, Skipped: duly.Skipped, Merged: duly.Merged,
		Cancelled: duly.Cancelled, Failed: duly.Failed, Uncertain: duly.Uncertain, Missed: duly.Missed,
	}
}

// Waitings lists what is waited for by its number.
func Waitings() [4]duly.Waiting {
	return [...]duly.Waiting{"", WaitSlot: duly.WaitingSlot, WaitTime: duly.WaitingTime, WaitEarlier: duly.WaitingEarlier}
}

// Origins lists the origins by their numbers.
func Origins() [5]duly.Origin {
	return [...]duly.Origin{duly.OriginSchedule, duly.OriginCatchUp, duly.OriginTrigger, duly.OriginBackfill, duly.OriginExternal}
}

// Outcomes lists the outcomes by their numbers.
func Outcomes() [8]duly.Outcome {
	return [...]duly.Outcome{
		duly.AttemptRunning, duly.AttemptSucceeded, duly.AttemptFailed, OutcomeLost: duly.AttemptLost, 4: duly.AttemptTimedOut,
		5: duly.AttemptCancelled, 6: duly.AttemptReleased, 7: duly.AttemptUncertain,
	}
}

// Of is the number of a value in one of the lists, or -1.
func Of[T comparable](list []T, v T) int64 {
	for i, c := range list {
		if c == v {
			return int64(i)
		}
	}
	return -1
}
