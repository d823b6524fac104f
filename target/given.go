package target

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Variable is one thing that a target is told, by the name that it has in a
// command's environment ("DULY_FENCING_TOKEN"). In a request it is a header of
// the same words ("Duly-Fencing-Token").
type Variable struct {
	Name, Value string
}

// PayloadVariable is the name of the variable that holds the payload.
const PayloadVariable = "DULY_PAYLOAD"

// Variables lists what a target is told about its attempt. Instants are RFC
// 3339 in UTC and lists are JSON. DULY_INTERVAL_START and DULY_LEASE_UNTIL are
// missing where there is none; DULY_LEASE_UNTIL is of now, and is passed while
// the lease is renewed. DULY_UNOWNED is there only where no lease owns the work.
func Variables(a Assignment) []Variable {
	vars := []Variable{
		{"DULY_SCHEDULE", a.Schedule},
		{"DULY_OCCURRENCE", a.Occurrence},
		{"DULY_PERIOD", a.Period},
		{"DULY_COVERS", jsonList(a.Periods())},
		{"DULY_DUE", Instant(a.Due)},
		{"DULY_ATTEMPT", strconv.Itoa(a.Attempt)},
		{"DULY_FENCING_TOKEN", strconv.FormatInt(a.Token, 10)},
		{"DULY_FENCING_RESOURCE", a.Resource},
		{"DULY_IDEMPOTENCY_KEY", a.IdempotencyKey},
		{PayloadVariable, string(a.Payload)},
	}
	if a.Unowned {
		vars = append(vars, Variable{"DULY_UNOWNED", "1"})
	}
	if !a.IntervalStart.IsZero() {
		vars = append(vars, Variable{"DULY_INTERVAL_START", Instant(a.IntervalStart)})
	}
	if until := a.OwnedUntil(); !until.IsZero() {
		vars = append(vars, Variable{"DULY_LEASE_UNTIL", Instant(until)})
	}
	return vars
}

// Env is Variables in the form of a command's environment.
func Env(a Assignment) []string {
	var env []string
	for _, v := range Variables(a) {
		env = append(env, v.Name+"="+v.Value)
	}
	return env
}

// Periods is Covers, or Period alone where that is empty.
func (a Assignment) Periods() []string {
	if len(a.Covers) == 0 {
		return []string{a.Period}
	}
	return a.Covers
}

// OwnedUntil is LeaseUntil as of now, zero where it is unknown.
func (a Assignment) OwnedUntil() time.Time {
	if a.LeaseUntil == nil {
		return time.Time{}
	}
	return a.LeaseUntil()
}

// Instant writes an instant the way targets are told it: RFC 3339 in UTC.
func Instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func jsonList(list []string) string {
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // a list of strings has a JSON form
	}
	return string(text)
}

// Text makes what a target printed fit to be stored and shown: every run of
// bytes that is not UTF-8, and every NUL, which some stores refuse, becomes
// U+FFFD.
func Text(raw []byte) string {
	text := strings.ToValidUTF8(string(raw), string(utf8.RuneError))
	return strings.ReplaceAll(text, "\x00", string(utf8.RuneError))
}
