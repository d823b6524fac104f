package postgres

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/codes"
)

// The states and waits, by their numbers.
const (
	pending   = codes.Pending
	running   = codes.Running
	succeeded = codes.Succeeded
	skipped   = codes.Skipped
	merged    = codes.Merged
	cancelled = codes.Cancelled
	failed    = codes.Failed
	uncertain = codes.Uncertain
	missed    = codes.Missed

	waitSlot    = codes.WaitSlot
	waitTime    = codes.WaitTime
	waitEarlier = codes.WaitEarlier

	outcomeLost = codes.OutcomeLost
)

// wants of a schedule: what planning it asks for.
const (
	wantsWaiting = 1
	wantsActive  = 2
)

// The words, by their numbers.
var (
	stateCodes   = codes.States()
	waitingCodes = codes.Waitings()
	originCodes  = codes.Origins()
	outcomeCodes = codes.Outcomes()
)

func stateCode(s duly.State) int64     { return codes.Of(stateCodes[:], s) }
func outcomeCode(o duly.Outcome) int64 { return codes.Of(outcomeCodes[:], o) }
func originCode(o duly.Origin) int64   { return max(0, codes.Of(originCodes[:], o)) }

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
