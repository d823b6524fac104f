// Package dulytest tests what your handlers do, and when, against a clock that
// you move: four days pass in a second.
//
//	d := dulytest.New(t)
//	d.At("2026-11-27T12:00:00+01:00")
//	d.Handle("send-invoices", sendInvoices)
//	d.Declare(invoices)
//	d.CrashAfterEffect("send-invoices")
//	d.Advance(4 * 24 * time.Hour)
//	d.Occurrence("invoices@2026-11-27").Succeeded().AfterAttempts(2).Created(0).Reused(1)
//
// The clock is virtual and belongs to the store: due times, leases, retries,
// catch-up and start deadlines follow it. Planning, claiming and retrying are
// the real code over a store in memory that keeps the same contract as SQLite
// and PostgreSQL do. Handlers are called in line, one after the other, on the
// goroutine of the test's Advance or beside it, and take no time by the virtual
// clock unless [Duly.Takes] says so. A real database, and package effect on it,
// work in them as they always do: nothing is faked but time. Code that reads
// time.Now sees the real time; the occurrence's Due and Period are the virtual
// ones.
//
// Retries come without jitter: after the backoff that the schedule names.
//
// What does not live here: anything that needs processes or a network. That is
// what `duly drill` is for.
package dulytest
