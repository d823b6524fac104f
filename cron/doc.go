// Package cron turns the timing of a schedule into instants.
//
// A timing is a pure function from (definition, zone, zone data) to a set of
// instants: nothing in this package reads a clock, a file or an environment
// variable, so every node that holds the same definition computes the same
// due times. Three kinds of timing share one small interface, [Sequence]:
//
//   - [Parse] reads a cron expression; [Expr.In] places it in a time zone.
//   - [Every] is a fixed distance from an anchor, in elapsed time.
//   - [At] is a list of instants.
//
// # Two kinds of cron expression
//
// What happens when a zone changes its clocks depends on which hours an
// expression selects, not on how it is spelled.
//
// An expression that selects all 24 hours (`*/15 * * * *`, `30 * * * *`) is
// about elapsed time: it is due at every real instant whose wall clock
// matches. Both passes of a repeated hour count, and nothing is made up for
// a skipped one.
//
// Every other expression (`30 2 * * *`) names wall times, and each local date
// that exists gets each of its named times exactly once. [DST] says how: by
// default a skipped time is due at the first instant after the gap, and a
// repeated time on its first pass. A date that a zone skipped altogether, such
// as 30 December 2011 in Apia, has no due times.
//
// # Search
//
// An expression is kept as bit masks. Since the days that match in a month
// depend only on the month's length and on the weekday of its first day, all
// 28 possible months are worked out when the expression is parsed, and a
// search is a few steps of civil arithmetic on local seconds. Offsets are
// looked up only at the ends of such a step. A search allocates nothing and
// takes bounded time; the longest step, to a 29 February on a given weekday,
// is 40 years.
//
// # What may not live here
//
// Policies that need history (catch-up, overlap, jitter), business days and
// periods, and anything that waits. See packages plan and calendar.
package cron
