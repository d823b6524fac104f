package memstore

// Bugs breaks the store in the ways that stores get broken. The zero value is
// a right store.
type Bugs struct {
	// FireWithoutUniqueKey inserts an occurrence that exists once more, and
	// tells no planner that it does.
	FireWithoutUniqueKey bool
	// FireInTwoSteps is asked between moving a schedule on and inserting its
	// occurrences, as if these were two transactions. True: the store dies there.
	FireInTwoSteps func() bool
	// MergeWithoutClosing lets occurrences go on that a later one has taken over.
	MergeWithoutClosing bool
	// ClaimIgnoresConcurrency hands out more than a queue may run.
	ClaimIgnoresConcurrency bool
	// ClaimIgnoresOrder hands out serial occurrences beside each other.
	ClaimIgnoresOrder bool
	// ClaimReusesTokens hands out the token of the attempt before.
	ClaimReusesTokens bool
	// FinishWithoutToken takes a report from whoever sends it.
	FinishWithoutToken bool
	// RenewWithoutToken extends a lease for whoever asks.
	RenewWithoutToken bool
	// ReapWithoutCounting forgets that an attempt was lost.
	ReapWithoutCounting bool
	// ReapTooEarly ends attempts in the last third of their lease.
	ReapTooEarly bool
	// ClockBackUnnoticed leaves schedules ahead of a clock that was set back.
	ClockBackUnnoticed bool
	// ClockBackForgotten keeps from planners that the clock was set back.
	ClockBackForgotten bool
	// AcquireWithoutLooking grants a named lease that somebody holds.
	AcquireWithoutLooking bool
}
