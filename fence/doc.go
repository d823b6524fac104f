// Package fence is what a destination uses to refuse a writer that has lost
// its ownership without knowing.
//
// # The idea
//
// A worker can be paused (garbage collection, a suspended laptop, SIGSTOP, a
// slow disk) for longer than its lease. Another worker is then granted the
// work, and when the first one wakes up, it goes on where it stopped: no check
// before the pause can have helped. Only the destination can tell the two
// apart. Every grant carries a fencing token that is greater than every token
// before it; the destination remembers the greatest token that it has seen for
// a resource, and refuses a smaller one.
//
// # Which tool
//
//   - [Check], inside the transaction that writes: nothing slips between the
//     check and the commit, because a row stays held until then. Package effect
//     calls it by itself.
//   - [Handler], before an HTTP handler: it refuses late requests early, and
//     puts the request's grant into its context, where package effect and
//     [Check] find it. A request that was admitted and then paused can still
//     write after a newer one did, unless its own transaction checks again.
//   - [Guard], the rule itself, for destinations that keep the greatest token
//     by themselves: a condition on an object's metadata, a script in Redis.
//   - [Memory] for a destination that lives in this process.
//
// # The resource
//
// Tokens can only be compared within one resource. Where a queue has a
// concurrency of one, its attempts follow each other and the resource is the
// queue ("queue/NAME", or "schedule/ID" for a schedule's own): an attempt at
// yesterday's period is refused once today's has written. Where more run at a
// time their tokens interleave, the greater one is not the later owner of the
// same work, and the resource is the occurrence ("occurrence/ID"). Duly chooses
// and says so in the grant; a destination only ever compares.
//
// # What a fence cannot do
//
//   - It refuses late writes at this destination. It does not stop the paused
//     process, which can go on to have effects elsewhere.
//   - It knows the tokens that have come by. Until the new owner has written
//     for the first time, the old one's write is admitted; the business key of
//     package effect then makes the new owner find it instead of repeating it.
//   - It orders owners; it does not make a repeated write of one owner a single
//     one. That too is what business keys are for.
//   - It is no authentication: who can reach the destination can send any
//     token.
//
// What lives here: the rule and the places that keep it. What may not: business
// keys, leases, a database driver.
package fence
