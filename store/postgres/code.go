package postgres

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// Codes in the tables. Partial indexes name the numbers, so an entry never
// moves; new ones go to the end.
const (
	pending   = 0 // open: state < 2
	running   = 1
	succeeded = 2
	skipped   = 3
	merged    = 4
	cancelled = 5
	failed    = 6 // needs attention: state > 5
	uncertain = 7
	missed    = 8
)

const (
	waitSlot    = 1
	waitTime    = 2
	waitEarlier = 3
)

// wants of a schedule: what planning it asks for.
const (
	wantsWaiting = 1
	wantsActive  = 2
)

var (
	stateCodes   = [...]duly.State{duly.Pending, duly.Running, duly.Succeeded, duly.Skipped, duly.Merged, duly.Cancelled, duly.Failed, duly.Uncertain, duly.Missed}
	waitingCodes = [...]duly.Waiting{"", duly.WaitingSlot, duly.WaitingTime, duly.WaitingEarlier}
	originCodes  = [...]duly.Origin{duly.OriginSchedule, duly.OriginCatchUp, duly.OriginTrigger, duly.OriginBackfill, duly.OriginExternal}
	outcomeCodes = [...]duly.Outcome{
		duly.AttemptRunning, duly.AttemptSucceeded, duly.AttemptFailed, duly.AttemptLost, duly.AttemptTimedOut,
		duly.AttemptCancelled, duly.AttemptReleased, duly.AttemptUncertain,
	}
)

const outcomeLost = 3

// code is the number of a value, or -1.
func code[T comparable](codes []T, v T) int64 {
	for i, c := range codes {
		if c == v {
			return int64(i)
		}
	}
	return -1
}

func stateCode(s duly.State) int64     { return code(stateCodes[:], s) }
func outcomeCode(o duly.Outcome) int64 { return code(outcomeCodes[:], o) }
func originCode(o duly.Origin) int64   { return max(0, code(originCodes[:], o)) }

// micros is a time in the tables; 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant is the inverse of micros.
func instant(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

func span(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// opt binds NULL for a zero value.
func opt[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// raw binds JSON as text, NULL for none.
func raw(j json.RawMessage) any {
	if len(j) == 0 {
		return nil
	}
	return plain(string(j))
}

// list binds a JSON list of strings.
func list(s []string) string {
	if s == nil {
		s = []string{}
	}
	b, _ := json.Marshal(s) // strings always marshal
	return string(b)
}

func unlist(text string) []string {
	var s []string
	if text != "" {
		_ = json.Unmarshal([]byte(text), &s) // written by list
	}
	return s
}

// plain makes text that the server takes: it refuses NUL and what is not UTF-8.
func plain(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
