// Package timing turns a schedule's timings into one sequence of due instants.
//
// A [duly.Schedule] may hold several timings (cron, every, at, rrule), things
// that take instants away (except, start, end) and a business calendar that
// skips or moves them. [Compile] checks all of that and makes one [Timing] of
// it; [Timing.Sequence] answers "what is due next, what was due before, how
// many were due between" for a schedule with a given anchor.
//
// # What a due instant carries
//
// A [Due] knows three things besides the instant itself: the nominal instant
// that the timing named before a calendar moved it, the business period that
// names the occurrence (always computed from the nominal instant, so that
// moving work never renames it), and why it does not run, if it does not. A
// day without business and a wall time that the clocks jumped over are part
// of the sequence for that reason: somebody will ask why nothing happened on
// that day, and the answer is a recorded skip. What `except`, `start` and
// `end` take away is not part of it: there the schedule is not due at all.
//
// # Order
//
// Dues come in order of At, and of Nominal where several fall on one instant:
// a calendar that moves Saturday's and Sunday's work to Monday makes three
// dues at one instant of Monday, one for each period. [Sequence.Next] answers
// the first of them; [Sequence.Between] yields all.
//
// # Recurrence rules
//
// An rrule is RFC 5545, with every part that would be malformed, forbidden or
// of no effect refused. Rules that are DAILY or rarer name wall times and meet
// clock changes exactly as a cron expression with the same times does. HOURLY,
// MINUTELY and SECONDLY rules follow elapsed time: they are due at the real
// instants whose wall clock matches, and their INTERVAL counts elapsed hours,
// minutes or seconds from DTSTART, so that a 23-hour day does not shift them.
// DTSTART itself is due only if the rule matches it.
//
// # Cost
//
// Everything is computed, nothing is listed: Next and Prev take a few hundred
// nanoseconds for a cron expression, whatever lies between. [Sequence.Count]
// counts a plain cron expression or interval by days and not by instants.
// Every search is bounded, so that a hostile rule is refused and never hangs.
//
// # What may not live here
//
// Policies that need history (catch-up, overlap, limit, jitter): they belong
// to package plan. No clock is read and nothing waits.
package timing
