package config

import "github.com/duly-dev/duly"

// fieldDoc is what the Go type of a field does not say.
type fieldDoc struct {
	text string   // what it means, for the person who writes the file
	enum []string // the texts it may be (its items, for a list)
	date bool     // its items are local dates

	// zero is said where 0 or an empty text stands: the Go types take that for
	// the default, which is not what somebody who writes it means. Where zero
	// is empty, so is the default, and 0 is as good as nothing.
	zero string
	// short is the key that a bare value instead of a mapping was meant for;
	// with brief, that is a way to write it.
	short string
	brief bool
	// single lets one text stand for a list of one.
	single bool
}

// describe documents every key of the file, as "type.key". A test holds it
// against the Go types in both directions.
func describe() map[string]fieldDoc {
	const (
		emptyText    = "is empty; remove it, or give it a value"
		dateText     = "A local date, as 2026-12-25."
		defaultsText = "Any key of a schedule but its description and its timings."
	)
	return map[string]fieldDoc{
		"document.schedules": {text: "The schedules, each under its ID: a stable name of letters, digits and . _ - / : that never changes."},
		"document.queues":    {text: "Shared queues by name. A schedule that names none has one of its own with concurrency 1."},
		"document.calendars": {text: "Named sets of business days, for the calendar key of schedules."},
		"document.defaults": {text: "What schedules have that do not say otherwise. " + defaultsText +
			" A key that a schedule sets replaces the one here as a whole, except that catch_up, dst and retry are merged key by key; null in a schedule removes it."},

		"Schedule.description":    {text: "For people."},
		"Timing.cron":             {zero: emptyText, text: "A cron expression in the schedule's zone: five fields, six with leading seconds, seven with a year last; or @daily and the like. Put it in quotes."},
		"Timing.every":            {zero: "is no interval; write one of at least 1s", text: "An interval of elapsed time, such as 15m, counted from anchor."},
		"Timing.anchor":           {text: "The instant that every counts from, in RFC 3339. Default: when the store first met the schedule."},
		"Timing.at":               {zero: emptyText, text: "One instant: RFC 3339, or local time in the schedule's zone, as 2026-11-28T09:00."},
		"Timing.rrule":            {zero: emptyText, text: "A recurrence rule of RFC 5545, with or without a DTSTART line."},
		"Schedule.timings":        {short: "cron", text: "Further timings; the schedule is due whenever any of them is."},
		"Schedule.except":         {short: "dates", text: "Instants, windows and dates at which the schedule is not due at all."},
		"Schedule.external":       {text: "The timing is kept by a platform's cron, which calls duly exec; the schedule has none of its own."},
		"Schedule.timezone":       {zero: emptyText, text: "An IANA zone name, such as Europe/Berlin. Default UTC."},
		"Schedule.dst":            {short: "gap", text: "What clock changes do to a schedule that names wall times."},
		"DST.gap":                 {zero: emptyText, enum: []string{"next", "shift", "skip"}, text: "For a wall time that does not exist: next (the first instant after the gap; default), shift (later by the gap's length), skip."},
		"DST.overlap":             {zero: emptyText, enum: []string{"first", "last", "both"}, text: "For a wall time that comes twice: first (default), last, both."},
		"Schedule.start":          {text: "The first instant at which it may be due, in RFC 3339."},
		"Schedule.end":            {text: "The instant from which it is not due any more, in RFC 3339."},
		"Schedule.limit":          {text: "The number of occurrences after which the schedule is over. Default 0: no limit."},
		"Schedule.jitter":         {text: "Spreads starts over this long after due, alike on every node. Default 0s."},
		"Schedule.start_deadline": {text: "How long after due a first attempt may still start; later the occurrence is missed. Default 0s: no deadline."},
		"Schedule.period": {
			zero: emptyText, enum: list(duly.PeriodInstant, duly.PeriodHour, duly.PeriodDay, duly.PeriodWeek, duly.PeriodMonth),
			text: "The unit of the business period that names an occurrence. Default day where it can be due at most once a local day, otherwise instant.",
		},
		"Schedule.period_offset": {text: "Moves the period from that of the due instant: -1 says that last night's work is for yesterday. Default 0."},
		"Schedule.calendar": {
			short: "name", brief: true, zero: emptyText,
			text: "Business days: the name of a calendar of this file, or a mapping with that name and what to do otherwise, or with the days themselves.",
		},
		"CalendarRule.name":      {zero: emptyText, text: "The name of a calendar of this file."},
		"CalendarRule.weekdays":  {enum: weekdays(), text: "The business weekdays. Default mon to fri."},
		"CalendarRule.holidays":  {date: true, text: "Days without business. " + dateText},
		"CalendarRule.workdays":  {date: true, text: "Days with business, whatever else is said. " + dateText},
		"CalendarRule.otherwise": {zero: emptyText, enum: []string{"skip", "next", "previous"}, text: "What becomes of an occurrence on a day without business: skip (default; recorded as skipped), or moved to the next or previous business day."},

		"Schedule.overlap": {
			zero: emptyText, enum: list(duly.OverlapWait, duly.OverlapSkip, duly.OverlapCombine, duly.OverlapAllow, duly.OverlapReplace),
			text: "When one comes due while an earlier one is unfinished: wait (default), skip the new one, combine the waiting ones, allow both, replace the running one.",
		},
		"Schedule.on_failure": {zero: emptyText, enum: list(duly.OnFailureContinue, duly.OnFailureHold), text: "Whether later periods wait for a failed one: continue (default) or hold."},
		"Schedule.catch_up":   {short: "policy", text: "What happens with times that passed while nothing could fire."},
		"CatchUp.policy": {
			zero: emptyText, enum: list(duly.CatchUpNone, duly.CatchUpLatest, duly.CatchUpAll, duly.CatchUpCombine),
			text: "none (all are missed), latest (default), all, or combine (one occurrence that covers them all).",
		},
		"CatchUp.window":     {zero: "means the default of 24h; to catch up nothing, write policy: none", text: "How far back to catch up. Default 24h."},
		"CatchUp.max":        {text: "How many to catch up at most, the newest first. Default 0: no bound."},
		"Schedule.queue":     {zero: emptyText, text: "The name of a shared queue. Default: a queue of its own with concurrency 1."},
		"Schedule.priority":  {text: "Order within a queue, higher first: -100 to 100. Default 0."},
		"Schedule.lease":     {zero: "means the default of 30s; write a duration of at least 1s", text: "How long ownership lasts between renewals. Default 30s."},
		"Schedule.timeout":   {text: "Ends an attempt that takes longer. Default 0s: no limit."},
		"Schedule.retry":     {short: "max_attempts", text: "How failed and lost attempts are repeated: backoff doubles with each, up to max_backoff, with jitter."},
		"Retry.max_attempts": {zero: "means the default of 5; write 1 for a single attempt without retry", text: "Attempts in all. Default 5; 1 means no retry."},
		"Retry.backoff":      {zero: "means the default of 10s; write 1ms to retry at once", text: "The wait before the second attempt. Default 10s."},
		"Retry.max_backoff":  {zero: "means the default of 10m; write a duration", text: "The longest wait between attempts. Default 10m."},
		"Schedule.when_unavailable": {
			zero: emptyText, enum: list(duly.UnavailableWait, duly.UnavailableRun),
			text: "What a node does while coordination is down. wait (default): nothing starts without ownership. run: every node that can do the work does it by itself, unowned; for harmless work only.",
		},
		"Schedule.payload": {text: "Any value, handed to the target as JSON. Numbers keep every digit."},
		"Schedule.target":  {short: "handler", text: "What an attempt does: exactly one of handler, exec and http."},

		"Target.handler":            {zero: emptyText, text: "The name of code on a node."},
		"Target.exec":               {short: "command", text: "A command on a node that serves the store."},
		"Target.http":               {short: "url", text: "A request to a web service."},
		"ExecTarget.command":        {text: "The program and its arguments, as a list; no shell is involved."},
		"ExecTarget.dir":            {zero: emptyText, text: "The working directory."},
		"ExecTarget.env":            {text: "Environment variables, added to what Duly sets."},
		"ExecTarget.kill_after":     {zero: "means the default of 10s; write 1ms to kill at once", text: "The time between SIGTERM and SIGKILL. Default 10s."},
		"ExecTarget.output_limit":   {zero: "means the default of 64 KiB; write 1 to keep next to nothing", text: "How many bytes of output are kept: the first and the last half. Default 65536, at most 1048576."},
		"HTTPTarget.url":            {zero: emptyText, text: "A full http or https address."},
		"HTTPTarget.method":         {zero: emptyText, text: "Default POST."},
		"HTTPTarget.headers":        {text: "Headers of the request."},
		"HTTPTarget.secret":         {zero: emptyText, text: "Signs requests by the Standard Webhooks scheme (whsec_…). Use ${env:NAME} or ${file:PATH}."},
		"HTTPTarget.response_limit": {zero: "means the default of 64 KiB; write 1 to keep next to nothing", text: "How many bytes of a response are kept. Default 65536, at most 1048576."},

		"Exclusion.for":   {zero: "is no window; remove the key, or write a duration", text: "The length of the windows that begin at the timing."},
		"Exclusion.from":  {zero: emptyText, text: "Where a window begins: RFC 3339, or local time as 2026-11-28T09:00."},
		"Exclusion.to":    {zero: emptyText, text: "Where it ends; this instant is not part of it."},
		"Exclusion.dates": {date: true, text: "Local dates. " + dateText},
		"Exclusion.note":  {text: "For people."},

		"calendarEntry.weekdays": {enum: weekdays(), text: "The business weekdays. Default mon to fri."},
		"calendarEntry.holidays": {date: true, text: "Days without business. " + dateText},
		"calendarEntry.workdays": {date: true, text: "Days with business, whatever else is said. " + dateText},
		"calendarEntry.ics":      {single: true, zero: emptyText, text: "ICS files whose all-day events are holidays; paths are relative to this file."},

		"Queue.concurrency": {zero: "means the default of 1; to stop a queue, pause its schedules", text: "How many occurrences may be in progress at once, on all nodes together. Default 1."},
		"Queue.rate":        {short: "count", text: "Bounds how many may start in a span of time."},
		"Rate.count":        {text: "How many may start in each span."},
		"Rate.per":          {text: "The span, such as 1m."},
	}
}

func weekdays() []string { return []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} }

func list[T ~string](values ...T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}
