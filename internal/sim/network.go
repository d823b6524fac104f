package sim

import (
	"time"

	"github.com/duly-dev/duly"
)

// call sends a request to the store and has reply called with the answer, or
// with an error of code unavailable when none has come within the patience.
// What is made of a request at the store does not depend on whether anybody
// still waits for it.
func call[T any](n *node, patience time.Duration, do func() (T, error), reply func(T, error)) {
	w := n.w
	answered := false
	answer := func(res T, err error) {
		if !answered {
			answered = true
			reply(res, err)
		}
	}
	lost := func() {
		var none T
		answer(none, duly.Errorf(duly.CodeUnavailable, "no answer"))
	}
	w.after(patience, n, lost)
	if n.cut > 0 {
		return
	}
	deliver := func() {
		if w.outages > 0 {
			return
		}
		res, err := do()
		if w.res.Broken != "" || n.cut > 0 || w.losing > 0 && w.rng.IntN(3) == 0 {
			return
		}
		w.after(w.delay(), n, func() { answer(res, err) })
	}
	w.after(w.delay(), nil, deliver)
	if w.doubling > 0 && w.rng.IntN(3) == 0 {
		w.after(w.delay(), nil, deliver)
	}
}

// delay is how long a message takes.
func (w *world) delay() time.Duration {
	if w.slow > 0 && w.rng.IntN(2) == 0 {
		return upTo(w.rng, 30*time.Second)
	}
	return time.Millisecond + upTo(w.rng, 20*time.Millisecond)
}
