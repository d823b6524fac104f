// Package pacing says when a shared queue may hand out, apart from what runs
// in it: a rate bounds its starts, and a person may have paused it. Times and
// spans are microseconds, as SQL stores keep them, and 0 is none.
//
// What may not live here: reading or writing a queue, clocks, and concurrency,
// which a store counts.
package pacing
