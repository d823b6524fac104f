package pacing

import (
	"encoding/json"
	"slices"
)

// parts is into how many parts a rate's span is cut.
const parts = 20

// Rate allows Count starts in each span of Per, and counts those of the last
// span, in parts. A part counts until a whole span has passed since its end, so
// no span of that length, by whichever clock it is cut out, ever holds more
// than Count; the price is that the next start may be late by a part. A Count of
// 0 is no bound.
type Rate struct {
	Count, Per int64

	starts []starts
}

// starts is how many began in one part of time.
type starts struct {
	Part  int64 `json:"p"`
	Count int64 `json:"n"`
}

func (r *Rate) part(now int64) int64 { return now / max(1, r.Per/parts) }

// Read takes up the starts that Text wrote; an empty text is none.
func (r *Rate) Read(text string) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &r.starts) // written by Text
	}
}

// Text writes down the starts that count.
func (r *Rate) Text() string {
	b, _ := json.Marshal(r.starts)
	return string(b)
}

// Room is how many may start now.
func (r *Rate) Room(now int64) int64 {
	used := int64(0)
	for _, s := range r.live(now) {
		used += s.Count
	}
	return max(0, r.Count-used)
}

// live are the parts that still count. Those of the future are from a clock
// that was set back, or a span that was redefined, and do not.
func (r *Rate) live(now int64) []starts {
	current := r.part(now)
	return slices.DeleteFunc(slices.Clone(r.starts), func(s starts) bool { return s.Part > current || s.Part < current-parts })
}

// Add counts n starts.
func (r *Rate) Add(now, n int64) {
	r.starts = r.live(now)
	if last := len(r.starts) - 1; last >= 0 && r.starts[last].Part == r.part(now) {
		r.starts[last].Count += n
		return
	}
	r.starts = append(r.starts, starts{r.part(now), n})
}

// Next is when the next start is allowed, now where it is.
func (r *Rate) Next(now int64) int64 {
	if r.Count == 0 {
		return now
	}
	live := r.live(now)
	used := int64(0)
	for _, s := range live {
		used += s.Count
	}
	for _, s := range live {
		if used < r.Count {
			break
		}
		used -= s.Count
		if used < r.Count {
			return (s.Part + parts + 1) * max(1, r.Per/parts)
		}
	}
	return now
}
