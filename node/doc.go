// Package node is one process taking part: it opens a store, declares the
// schedules in its code, and does the work that is due.
//
// A [Node] is a few loops around a store and nothing more:
//
//   - the dispatcher (dispatch.go) sleeps until something is due and then
//     fires, claims and reaps, whichever the store's horizon calls for;
//   - the keeper (keeper.go) renews leases at a third of their length and
//     cancels a handler before its lease can have run out;
//   - the reporter (report.go) sends what attempts came to, in batches, and
//     holds reports through an outage until they are accepted or refused;
//   - what is asked for in this process is taken at once (take.go), and history
//     that is too old is trimmed (trim.go);
//   - the session (session.go) keeps the node on the node list and its
//     declarations in force.
//
// Decisions belong to package plan and transitions to the store. What belongs
// here is time, goroutines, and what happens when the store does not answer.
// The store's clock decides what is due; the process's clock only paces the
// loops and stops trusting a lease early.
package node
