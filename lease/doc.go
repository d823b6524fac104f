// Package lease keeps a named lease: ownership, for a limited time, of
// something that is no occurrence, such as a migration or a warm cache.
//
// [Do] is the whole of it for most programs: it acquires the lease, calls a
// function with a context, renews meanwhile, and releases. The context ends
// before the lease can have run out, whether or not the store can be reached,
// counted on the process's monotonic clock from before the store was asked.
//
// A lease does not stop a paused process: what it protects should be told the
// fencing token ([Lease.Token]) and refuse a lower one than it has seen (see
// package fence).
package lease
