package sim

import "github.com/duly-dev/duly/internal/memstore"

// Bug is something broken on purpose. The zero value is nothing.
type Bug string

// Bugs in the store, in the engine, and in what handlers rely on.
const (
	FireWithoutUniqueKey    Bug = "fire without unique key"
	FireInTwoSteps          Bug = "cursor moved before the insert, in a transaction of its own"
	MergeWithoutClosing     Bug = "merged periods not closed"
	ClaimIgnoresConcurrency Bug = "claim ignores the queue's concurrency"
	ClaimIgnoresOrder       Bug = "claim ignores the order of a schedule"
	ClaimReusesTokens       Bug = "claim hands out the token of the attempt before"
	FinishWithoutToken      Bug = "finish without token check"
	RenewWithoutToken       Bug = "renew without token check"
	ReapWithoutCounting     Bug = "reap forgets to count"
	ReapTooEarly            Bug = "reap before the lease has run out"
	ClockBackUnnoticed      Bug = "a clock set back silences schedules"
	ClockBackForgotten      Bug = "planner not told that the clock was set back"

	LeaseByNodeClock  Bug = "leases judged by the node's clock"
	TrustFromAnswer   Bug = "lease counted from the answer, not from the question"
	RetryForEver      Bug = "retry for ever"
	RenameOnLostReply Bug = "lost reply taken for a failure, and asked again under another name"
	ForgetReports     Bug = "report dropped when the store cannot be reached, its lease renewed for ever"

	LedgerWithoutKey   Bug = "effect without business key"
	EffectWithoutFence Bug = "effect without fence"
)

// Bugs lists them all.
var Bugs = []Bug{
	FireWithoutUniqueKey, FireInTwoSteps, MergeWithoutClosing, ClaimIgnoresConcurrency, ClaimIgnoresOrder, ClaimReusesTokens,
	FinishWithoutToken, RenewWithoutToken, ReapWithoutCounting, ReapTooEarly, ClockBackUnnoticed, ClockBackForgotten,
	LeaseByNodeClock, TrustFromAnswer, RetryForEver, RenameOnLostReply, ForgetReports, LedgerWithoutKey, EffectWithoutFence,
}

// storeBugs are those of the store. dies is asked where a store with
// FireInTwoSteps could die.
func (b Bug) storeBugs(dies func() bool) memstore.Bugs {
	bugs := memstore.Bugs{
		FireWithoutUniqueKey: b == FireWithoutUniqueKey, MergeWithoutClosing: b == MergeWithoutClosing,
		ClaimIgnoresConcurrency: b == ClaimIgnoresConcurrency, ClaimIgnoresOrder: b == ClaimIgnoresOrder, ClaimReusesTokens: b == ClaimReusesTokens,
		FinishWithoutToken: b == FinishWithoutToken, RenewWithoutToken: b == RenewWithoutToken,
		ReapWithoutCounting: b == ReapWithoutCounting, ReapTooEarly: b == ReapTooEarly, ClockBackUnnoticed: b == ClockBackUnnoticed,
		ClockBackForgotten: b == ClockBackForgotten,
	}
	if b == FireInTwoSteps {
		bugs.FireInTwoSteps = dies
	}
	return bugs
}
