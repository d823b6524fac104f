// Package history records what clients of a store hear under concurrent load,
// and asks whether one after the other could have heard it too: whether the
// history is linearizable (Herlihy and Wing), by the checker porcupine. It
// knows a few lines of what leases and claims mean, and nothing of stores.
//
// A history that is not linearizable is a bug of the store, whatever the
// conformance suite says, which looks at results and not at their order.
//
// What may not live here: any store, and faults; for those there is the
// simulation (internal/sim).
package history
