// Package target is the contract between the part of a node that owns an
// attempt and what the attempt does when it is not a Go handler: package exec
// runs a command, package http sends a request.
//
// A node claims an occurrence, makes an [Assignment] of it and calls
// [Runner.Run]; the [Result] is all it learns. A runner never talks to a store
// and never decides whether an attempt is repeated: it says what happened, and
// what the target itself asked for (Permanent, RetryAfter). Everything that a
// target is told about its attempt is in [Env] and [Header], the same on every
// node.
//
// What lives here: the types of that contract, the causes for which a node
// ends an attempt early, and the texts and bounds every runner shares. What
// may not: a technology, a goroutine, and any import besides package duly and
// the standard library.
package target
