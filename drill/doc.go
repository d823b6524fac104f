// Package drill proves recovery instead of promising it: it starts real
// processes, hits them with real signals, takes their store away, and counts
// what came of it.
//
// A [Scenario] is a short play. Its stage (stage.go) has a scratch store, some
// nodes, which are this program started again (process.go, node.go), and a job:
// the built-in sample (sample.go), or the user's own (own.go). The play says
// when to strike. When it is over, one verifier (verify.go) looks at the store's
// history and at the effects, whatever was played, and says in words what is
// wrong (diagnose.go).
//
// What is judged are promises: each occurrence exists once and comes to an end;
// tokens only grow and owners do not overlap; each effect happens once. How many
// attempts it took is shown and never judged by itself: an attempt is not an
// effect.
//
// What lives here: scenarios, the processes they need, verdicts and reports.
// What may not: anything that a caller of the public packages could not do. A
// drill that looked inside would prove less.
package drill
