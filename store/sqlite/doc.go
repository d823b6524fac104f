// Package sqlite keeps Duly's state in one SQLite file. It is the embedded
// default: nothing to install, several processes of one host may share a file,
// and an acknowledged write survives kill -9 and power loss.
//
// The idea in four parts:
//
//   - One writer. A goroutine owns the only connection that writes (writer.go).
//     Callers hand it closures; it runs all that wait in one transaction and
//     answers after the commit. A batch grows while the commit before it is in
//     flight, so a lone caller waits for nobody and a crowd shares one sync.
//   - Small pages touched, not few statements. In-process SQLite has no round
//     trips to save; what costs is each page that a commit writes. So indexes
//     are partial (history is in none of the hot ones), the key of identity
//     begins with the period (what is made together lies together), and the
//     newest attempt lives on its occurrence's row.
//   - Open work and history share a table. An occurrence never moves.
//   - Readers have connections of their own and never wait for the writer.
//
// Occurrences of a schedule are chained from the newest to the oldest by their
// prev column, in place of an index whose pages every firing would touch.
//
// What may not live here: policy. What is due, what overlaps and what is tried
// again is decided above (package plan) and only carried out here.
package sqlite
