// Package store is the contract between Duly and the place that coordinates
// its nodes. A method is a transition of the state machine, done in one atomic
// step, never an operation on rows: so stores cannot drift apart, and policy
// stays above them (package plan decides, a store executes).
//
// The rules that hold for every method:
//
//   - The store's clock decides. Instants in requests are either zero, meaning
//     the store's own now, or given by tests and simulations that move time.
//   - A batch is as good as its parts: one refused item never fails the rest.
//   - An answer without error means that the step is durable.
//   - A method that returns an error of code unavailable may or may not have
//     happened. Every step may therefore be repeated: Fire is idempotent by
//     schedule@period, Finish by token, Apply and Declare by content.
//   - Fencing tokens grow over the life of the store, across restarts and
//     releases, and are never handed out twice.
//
// Package storetest holds the conformance suite; a store is right when the
// suite passes, and nothing else says so. Stores link themselves into Open by
// being imported, as database/sql drivers do.
package store
