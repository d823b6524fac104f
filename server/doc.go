// Package server answers the HTTP API: it turns requests into calls of package
// control and of the store, and what they say into the types of package api.
// It holds no state of its own beyond open connections, so any number of
// servers may share a store.
//
//   - server.go makes the [Server]; middleware.go is what every request passes;
//   - register.go and spec.go describe operations, problem.go answers errors;
//   - schedules.go, definitions.go, occurrences.go, lists.go, leases.go are
//     what people ask for; start.go what a platform's cron asks for; nodes.go,
//     worker.go and finish.go the protocol of workers;
//   - hub.go spreads the store's wake-ups, broker.go hands work to the workers
//     that wait for it, events.go streams to browsers;
//   - probes.go, metrics.go and page.go are for those who look after it.
//
// The description of the API is made from the Go types of packages duly, store
// and api with their comments; `go generate ./server` writes it anew after a
// change of any of them.
//
// What may not live here: policy (packages plan and control), SQL, and a
// listener: the caller serves [Server.Handler] with its own timeouts.
package server
