// Package calendar knows dates: which of them are business days, and which
// period an instant belongs to.
//
// A [Date] is a day on a wall calendar, without a zone. A [Calendar] tells
// business days from others by weekday, by holidays (also from iCalendar files,
// [ParseICS]) and by extra workdays.
//
// A period is the day, week, month or hour that work is for, in a zone. Its key
// is what makes an occurrence the same one on every node: the invoices of 28
// November are `2026-11-28` at whatever time they are made, and moving a
// schedule from midnight to six does not bill that date twice. [Key] gives the
// key of an instant; [Bounds] gives the first instant of a period and of the
// one after it, which is right on days that begin after a gap at midnight and
// in hours that come twice.
//
// Everything here is a pure function of its arguments: no clock, no file, no
// setting of the host. Zones come from the caller; a nil zone is UTC.
package calendar
