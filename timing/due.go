package timing

import "time"

// Due is one element of a sequence.
type Due struct {
	// At is when the work is due, in UTC.
	At time.Time
	// Nominal is what the timing named, before a calendar moved it.
	Nominal time.Time
	// Period is the business period, from Nominal: the occurrence's name.
	Period string
	// Skip says why this one does not run; empty if it does.
	Skip string
}

// The reasons for which a due instant does not run.
const (
	skipGap        = "dst gap: the clocks jumped over its local time"
	skipNoBusiness = "calendar: no business day"
)
