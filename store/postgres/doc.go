// Package postgres keeps Duly's state in one schema of a PostgreSQL database,
// version 13 or later, shared by any number of nodes without a leader.
//
// The idea in five parts:
//
//   - Few round trips, few commits. A step is one that looks and locks and one
//     that writes and commits; statements travel in lines (conn.go), and work on
//     sets by unnest. Reports that wait while a commit is in flight share the
//     next one (group.go). What is counted is spread over slots, so that commits
//     do not wait for each other.
//   - Locks are taken in one order: changes of definitions, schedules (the rows
//     of tracks), shared queues, occurrences, counts. Whatever may pass by what
//     is locked does so: a firing, a claim and a reap never wait for another. The
//     lock of a schedule guards the order of its occurrences: whoever makes,
//     ends or reorders them holds it. The lock of a shared queue guards its
//     concurrency: whoever starts something in it holds it. Tokens are drawn from
//     a sequence when all is locked that they guard, so a later claim of the same
//     thing has the greater one.
//   - A statement sees what was committed before it began. What a lock guards is
//     therefore read by the statement after the one that locks, or comes with the
//     locked row itself.
//   - Open work and history share a table, and the indexes of what is open are
//     partial, so that history costs them nothing. Plans are made for any size:
//     every table is reached by its indexes.
//   - Nothing is left on a connection, so poolers in transaction mode are fine.
//     Notifications are a wake-up and not part of the transactions (listen.go).
//
// Occurrences of a schedule are chained from the newest to the oldest by their
// prev column, in place of an index whose pages every firing would touch.
//
// What may not live here: policy. What is due, what overlaps and what is tried
// again is decided above (package plan) and only carried out here.
package postgres
