// Package duly holds the nouns of Duly and the rules that bind them.
//
// A [Schedule] produces occurrences. An [Occurrence] is tried in attempts. An
// [Attempt] causes effects. Three promises follow, and they are kept by
// different parts and shown apart on every surface:
//
//   - an occurrence exists once, however many nodes see the clock strike;
//   - at most one attempt owns an occurrence at a time;
//   - an effect, named by a business key, happens once however many attempts
//     there were.
//
// What lives here: types, their validation, the table of state transitions and
// the error codes. What may not: I/O, goroutines, the reading of clocks, and
// any import outside the standard library.
package duly
