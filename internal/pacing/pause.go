package pacing

// Pause is since when a queue is paused, and until when; 0: it is not, and
// until somebody resumes it.
type Pause struct{ Since, Until int64 }

// Holds reports whether the queue is paused at an instant.
func (p Pause) Holds(now int64) bool { return p.Since != 0 && (p.Until == 0 || p.Until > now) }

// Open is when a queue that might hand out from an instant on does, paused as
// it is; 0 where that is for a person to say.
func (p Pause) Open(from int64) int64 {
	switch {
	case p.Since == 0:
		return from
	case p.Until == 0:
		return 0
	}
	return max(from, p.Until)
}
