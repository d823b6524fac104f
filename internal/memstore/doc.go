// Package memstore is a whole store in memory: plain Go over maps, held to the
// contract by the suite of package storetest as every other store is. It keeps
// nothing when its process ends. Its clock is a function, so that the
// simulation (internal/sim) and dulytest can move time, and its steps can be
// broken on purpose ([Bugs]), so that tests can show that they would notice.
//
// One mutex makes every method one atomic step. What an occurrence waits for
// is not kept but worked out when somebody looks, since here looking is cheap.
//
// What may not live here: policy, anything that waits, and anything whose order
// hangs on the iteration of a map: the same calls have to give the same answers.
package memstore
