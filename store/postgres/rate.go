package postgres

import (
	"encoding/json"
	"slices"
)

// parts is into how many parts a rate's span is cut.
const parts = 20

// window counts the starts of a rate's last span, in parts. A part counts
// until a whole span has passed since its end, so no span of that length, by
// whichever clock it is cut out, ever holds more than count; the price is that
// the next start may be late by a part.
type window struct {
	count, per int64
	starts     []starts
}

// starts is how many began in one part of time.
type starts struct {
	Part  int64 `json:"p"`
	Count int64 `json:"n"`
}

func (w *window) part(now int64) int64 { return now / max(1, w.per/parts) }

func (w *window) read(text string) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &w.starts) // written by text
	}
}

func (w *window) text() string {
	b, _ := json.Marshal(w.starts)
	return string(b)
}

// room is how many may start now.
func (w *window) room(now int64) int64 {
	used := int64(0)
	for _, s := range w.live(now) {
		used += s.Count
	}
	return max(0, w.count-used)
}

// live are the parts that still count. Those of the future are from a clock
// that was set back, or a span that was redefined, and do not.
func (w *window) live(now int64) []starts {
	current := w.part(now)
	return slices.DeleteFunc(slices.Clone(w.starts), func(s starts) bool { return s.Part > current || s.Part < current-parts })
}

func (w *window) add(now, n int64) {
	w.starts = w.live(now)
	if last := len(w.starts) - 1; last >= 0 && w.starts[last].Part == w.part(now) {
		w.starts[last].Count += n
		return
	}
	w.starts = append(w.starts, starts{w.part(now), n})
}

// next is when the next start is allowed, now where it is.
func (w *window) next(now int64) int64 {
	live := w.live(now)
	used := int64(0)
	for _, s := range live {
		used += s.Count
	}
	for _, s := range live {
		if used < w.count {
			break
		}
		used -= s.Count
		if used < w.count {
			return (s.Part + parts + 1) * max(1, w.per/parts)
		}
	}
	return now
}
