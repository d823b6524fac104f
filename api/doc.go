// Package api is the HTTP API as its clients see it: the types that go over
// the wire and a [Client] with a method for every endpoint. Package server
// answers with the same types, so the two cannot drift apart, and a program
// that opens a store itself speaks the same API without a network ([InProcess]).
//
// On the wire names are snake_case, instants RFC 3339, durations text such as
// "30s", and a list is {"items": […], "next_cursor": …}. An error is a
// [Problem] and comes back from the client as a *duly.Error with the same code,
// field and message; [Faults] lists all of them where several were found.
//
// What may not live here: policy, a store, and anything that listens.
package api
