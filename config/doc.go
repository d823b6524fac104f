// Package config reads duly.yaml and says what applying it would change.
//
// A file is read strictly: what cannot be understood is refused, never
// ignored. All faults of a file are reported at once, in the order of its
// lines, each with its line, its column, the source and, where there is a near
// miss, a suggestion.
//
// Three steps, each of them small:
//
//  1. The YAML becomes a tree of nodes that know where they stand. Anchors,
//     aliases and merge keys are resolved here and bounded, so that a small
//     file cannot unfold into a large one.
//  2. The tree is checked against a shape, which is reflected from the Go types
//     that the file is decoded into. The JSON Schema is printed from that same
//     shape, so the two cannot disagree.
//  3. The definitions are checked by the packages that own their meaning, and
//     what they object to is put back to the line and column it came from.
//
// Placeholders (${env:NAME} and ${file:PATH}) keep secrets out of a file. Their
// values never appear in a fault: an excerpt shows the source, and a message
// that would quote a value quotes its placeholder.
//
// What may not live here: the meaning of a policy or a timing, defaults that
// only a file would have, and access to a store.
package config
