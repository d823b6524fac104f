// Package chaos holds Duly's promises against real faults: worker processes on
// PostgreSQL servers of their own, with a proxy in between. It has tests and
// nothing else.
//
// TestChaos (chaos_test.go) is the big one: five nodes, a primary and its
// synchronous standby, and minutes of whatever comes to a seeded random's mind:
// workers killed, paused and drained, connections cut, held up and made to
// swallow answers, servers restarted, crashed and replaced by their standby.
// Then the faults end, the work does, and what is in the database is held to
// the promises (verify_test.go):
//
//   - every period that was due is covered by one occurrence, and by one only;
//   - every occurrence has come to an end, the one that its work calls for;
//   - a queue never had more owners at once than its concurrency, by an audit
//     that triggers write along with each change of ownership;
//   - the effects are those that are expected, each once;
//   - where an effect's commit completes its attempt, no attempt comes after it.
//
// A run prints its seed first. Where a promise is broken it prints what broke
// it, and the history of the occurrence. To do the same faults again (what
// meets them differs with every run):
//
//	go test ./internal/chaos -run TestChaos -chaos.seed=42 -chaos.for=10m
//
// `make test` has it for a minute, `make chaos` for ten.
//
// The other tests each have one fault and look at it closely: a store that
// cannot be reached for shorter and longer than a lease, that only reads, that
// has no room for connections or on its disk, two hundred nodes that come back
// at once, and how soon the work of a worker that is gone goes on elsewhere.
//
// What may not live here: anything that other packages use.
package chaos
