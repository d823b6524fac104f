// Package plan decides. Given a definition, where a schedule stands and what
// time it is, it says what is made, skipped, missed, combined, retried, and
// when to look again. It is pure: it reads no clock, does no I/O, starts no
// goroutine, and two nodes that ask the same question get the same answer.
//
// # From an instant to an occurrence
//
// A schedule has a cursor: every instant up to it has been decided on. [Decide]
// takes the instants in (cursor, now], each from the revision of the definition
// that was in force then (From < t <= next From), and accounts for every one of
// them: as an occurrence to be done, as a record of one that is skipped or
// missed, or as part of such a record that stands for a run of them. Where
// several instants share a business period the first of them names the
// occurrence and the others are nothing.
//
// # On time, or to be caught up
//
// No scheduler acts at the very instant. What it makes within [Grace] of due it
// makes on time. The rule is about the whole of what is owed: if the oldest owed
// instant is within Grace, then nothing was interrupted, and all of it is simply
// made, also by a busy planner that comes round every two seconds to a schedule
// of every second. If the oldest is later than that, something was down, and the
// catch-up policy of the newest revision decides on all that is owed:
//
//   - none: all are missed, except the newest if that one is within Grace.
//   - latest: the newest runs, the others are missed.
//   - all: those within the window and, of them, the newest max run in order;
//     older ones are missed.
//   - combine: one occurrence, of the newest, that covers those which `all`
//     would run (at most [MaxCovers]).
//
// An occurrence that is made later than Grace has origin catch_up. "Newest"
// means the newest instant that runs at all: what a calendar or a clock change
// skips is recorded as skipped in any case and is nobody's substitute.
//
// # After a pause
//
// What came due in a pause belongs to the resume: its policy decides, without
// window (a person asked) but with max, and what it does not want is recorded as
// skipped, "paused by" somebody.
//
// # Records
//
// A record of a skipped or missed occurrence has the name that the occurrence
// would have had, so that a backfill finds it. More than [LongRun] of one kind
// in a row become one record that stands for all of them: its period is
// "first..last", its due instant that of the last, its count exact. A run that
// goes on from one decision to the next extends the record.
//
// # What exists already
//
// An occurrence exists once by its name. Names alone do not tell of periods that
// are covered under another one's, so two cases are asked about
// ([store.Firing].Ask): all that is due up to where a store's clock had come
// before it was set back, and what is to be combined after an interruption, where
// a person or an earlier timing may have had a period. What exists is neither
// made, skipped, missed nor covered, and no run of records stands for it.
//
// # Bounded work
//
// A decision makes at most [MaxPage] occurrences and looks at a bounded number
// of instants, then stops with the cursor where it got to and NextDue = now, so
// that the rest comes with the next call and no schedule starves another. It
// never stops within Grace, so that the rest is late too and comes under the
// same policy. Long runs of a plain cron expression or interval are counted, not
// listed.
//
// # Overlap
//
// wait and allow leave the order to the store ([Place]). skip skips while any
// earlier occurrence is unfinished; one that waits for its retry is unfinished.
// combine takes over the occurrences that wait and makes one of all that is
// owed. replace cancels what runs and makes only the newest that is owed.
//
// # What may not live here
//
// Anything that waits, stores, or reads the time.
package plan
