// Package cli is Duly's command line: flags, words and tables.
//
// Every command that looks at a store, or changes one, speaks through the HTTP
// API's client. With --store the API is served in memory, by this process and
// for it alone; with --server it is somebody else's. So a command means the
// same in both cases, and its JSON is the API's.
//
// What lives here: the tree of commands, how things are shown to a person,
// exit codes, and the wiring of `duly serve`. What may not live here: policy
// (package plan), what a request means (package control), or anything that a
// caller of the API could not do.
package cli
