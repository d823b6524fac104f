package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/duly-dev/duly/internal/edits"
)

// unknownKey notes a key that its place does not have, with what may have been
// meant.
func (d *decoder) unknownKey(in *node, e entry, f *field) {
	d.faulty[in] = true
	hint := suggest(e.name, f.names())
	switch {
	case f.typeName == "Schedule" && e.name == "id", f.typeName == "Queue" && e.name == "name":
		hint = "; the key above it is its name"
	case f.name == "defaults" && slices.Contains(timingKeys, e.name):
		hint = "; timings are not inherited, so write it in each schedule"
	case f.typeName == "CalendarRule" && e.name == "ics":
		hint = "; it belongs to a calendar under calendars:, whose name is given here"
	case hint != "":
	case f.typeName == "Schedule" || f.typeName == "Queue":
		hint = elsewhere(e.name, f)
	}
	if hint == "" {
		hint = "; the keys here are " + strings.Join(f.names(), ", ")
	}
	d.faulty[e.key] = true
	d.fault(e.key, "unknown key %q in %s%s", e.name, f.title(), hint)
}

// title is how a message calls an object.
func (f *field) title() string {
	switch {
	case f.typeName == "document":
		return "the file"
	case f.typeName == "Schedule" && f.name != "defaults":
		return "a schedule"
	case f.typeName == "Queue":
		return "a queue"
	case f.typeName == "calendarEntry":
		return "a calendar"
	}
	return f.name
}

// elsewhere says where a key belongs that is known under another name or in
// another place.
func elsewhere(name string, f *field) string {
	word := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	if said := foreign(word); said != "" {
		return "; " + said
	}
	for _, sub := range f.fields {
		for s := sub.shape; s != nil; s = s.elem {
			if s.kind == shapeObject {
				if path := find(name, sub.name, s); path != "" && sub.name != "except" && sub.name != "timings" {
					return fmt.Sprintf("; it belongs to %s", path)
				}
			}
		}
	}
	return ""
}

// find returns the path of the object that has a key.
func find(name, path string, s *shape) string {
	if s.field(name) != nil {
		return path
	}
	for _, f := range s.fields {
		if f.kind == shapeObject {
			if p := find(name, path+"."+f.name, f.shape); p != "" {
				return p
			}
		}
	}
	return ""
}

// foreign knows what other schedulers call things.
func foreign(word string) string {
	switch word {
	case "tz", "zone":
		return `did you mean "timezone"?`
	case "schedule", "expression", "pattern", "crontab":
		return `did you mean "cron"?`
	case "interval", "fixedrate", "fixeddelay":
		return `did you mean "every"?`
	case "concurrency", "concurrencypolicy", "maxinstances", "coalesce":
		return `say what overlapping does with overlap, and how many at once with a queue's concurrency`
	case "retries", "attempts", "backofflimit", "maxretries":
		return `did you mean "retry: { max_attempts: … }"?`
	case "startingdeadlineseconds", "misfiregracetime", "misfire":
		return `did you mean "start_deadline" or "catch_up"?`
	case "enabled", "disabled", "suspend", "suspended", "paused":
		return "a file does not pause a schedule; use `duly schedules pause`, which records who and why"
	case "command", "cmd", "script", "run":
		return `did you mean "target: { exec: { command: […] } }"?`
	case "url", "webhook":
		return `did you mean "target: { http: { url: … } }"?`
	case "handler", "job", "task":
		return `did you mean "target: { handler: … }"?`
	case "data", "args", "input":
		return `did you mean "payload"?`
	}
	return ""
}

// suggest names the candidate that a word was probably meant to be, as the end
// of a sentence; "" if none is near.
func suggest(word string, candidates []string) string {
	if best := nearest(word, candidates); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

func nearest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	plain := func(s string) string {
		return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
	}
	best, least := "", 1+len(word)/3
	for _, c := range candidates {
		if len(c) > 64 {
			continue
		}
		d := edits.Between(plain(word), plain(c))
		if d < least || d == least && best == "" {
			best, least = c, d
		}
	}
	// A word as short as the difference is not a near miss but another word.
	if best == "" || least >= len(word) {
		return ""
	}
	return best
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// cause is what is wrong with a path, without the path.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
