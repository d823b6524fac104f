package duly

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time that people write as "90s", "15m", "36h", "7d"
// or "2w". A day is 24 hours and a week seven days: a duration measures
// elapsed time, never calendar days.
type Duration time.Duration

// Std returns d as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String prints d in the largest unit that divides it, so that what is read
// back is what was written: "7d", not "168h0m0s".
func (d Duration) String() string {
	v := time.Duration(d)
	if v == 0 {
		return "0s"
	}
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}} {
		if v%u.size == 0 {
			return strconv.FormatInt(int64(v/u.size), 10) + u.name
		}
	}
	return v.String()
}

// ParseDuration reads a Go duration in which "d" (24 h) and "w" (7 d) are
// units too, as in "1d12h". It refuses signs, as no duration in Duly is
// negative.
func ParseDuration(s string) (Duration, error) {
	orig := s
	bad := func() (Duration, error) {
		return 0, fmt.Errorf("%q is not a duration: write a number and a unit, such as 30s, 15m, 2h, 7d", orig)
	}
	s = strings.TrimSpace(s)
	if s == "" || s[0] == '-' || s[0] == '+' {
		return bad()
	}
	var total time.Duration
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		head, rest, found := strings.Cut(s, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(head, 10, 64)
		if err != nil || n < 0 || n > int64(maxDuration/unit.size) {
			return bad()
		}
		total += time.Duration(n) * unit.size
		s = rest
	}
	if s != "" {
		rest, err := time.ParseDuration(s)
		if err != nil || rest < 0 {
			return bad()
		}
		total += rest
	}
	if total < 0 || total > maxDuration {
		return bad()
	}
	return Duration(total), nil
}

// maxDuration bounds every duration: a hundred years is a typing error.
const maxDuration = 100 * 366 * 24 * time.Hour

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON implements json.Unmarshaler. A bare number is refused: its
// unit would have to be guessed.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("%s is not a duration: write a number and a unit in quotes, such as \"30s\"", data)
	}
	return d.UnmarshalText([]byte(s))
}
