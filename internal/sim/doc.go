// Package sim runs Duly's engine in a world of its own: a virtual clock, nodes
// that crash, pause and are cut off, a network that is slow, loses and repeats
// messages, and a store whose clock is set back. One seed decides everything,
// so a run that breaks a promise is played again exactly, and [Shrink] leaves
// of its faults only those that it takes.
//
// The store is the one in memory (internal/memstore), held to the contract by
// the suite of all stores. Decisions are the real ones of package plan, trust in
// leases that of package lease. What is imitated is package node's loops, whose
// goroutines no seed could order: a simulated node is a state machine in a
// single-threaded event loop that takes the same steps. The real node runs over
// the same store in this package's tests of progress, in fake time.
//
// # What is checked
//
// The checker looks at every step when it is committed, whatever its caller
// hears of it, and once more at the end:
//
//   - an occurrence exists once, and each is worked on for periods of its own;
//   - none is lost: every due instant is accounted for, once;
//   - tokens grow; nobody completes or renews under a superseded one;
//   - no ownership ends before its lease, and no two nodes believe to own one
//     occurrence at the same moment;
//   - a queue runs no more than it may, a serial schedule one at a time, in order;
//   - no occurrence is tried more often than its schedule allows;
//   - an effect happens once for a period, never under a token older than one
//     that its destination has seen;
//   - what a person asked for exists once, however often the answer was lost;
//   - when the faults have ended, everything comes to its end.
//
// That the checker would notice is a test too: each [Bug] breaks one thing, and
// has to be found.
//
// What may not live here: wall clocks, goroutines, and maps whose order matters.
package sim
