package convert

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

// CrontabOptions say what a crontab itself does not.
type CrontabOptions struct {
	// Mode is ModeExec by default.
	Mode Mode
	// Zone is the time zone of the machine the crontab is from, where its lines
	// do not name one with CRON_TZ or TZ. Default UTC.
	Zone string
	// System says that the sixth column is a user, as in /etc/crontab and
	// /etc/cron.d. Where it is nil, that is told from the name and the content
	// of each crontab, and a note says how.
	System *bool
}

// Crontab converts crontabs as the cron of Debian, Red Hat and their kin reads
// them. What cron does with every line alike is set in every schedule: a
// command is started once, beside an earlier one that is unfinished, and what
// was missed is forgotten.
func Crontab(sources []Source, opt CrontabOptions) *Result {
	c := crontabConverter{
		Result: &Result{origin: "crontab"}, opt: opt,
		zones: newZones(), names: newNames(),
	}
	if c.opt.Mode != ModeExternal {
		c.common = &duly.Schedule{
			Overlap: duly.OverlapAllow,
			CatchUp: duly.CatchUp{Policy: duly.CatchUpNone},
			Retry:   duly.Retry{MaxAttempts: 1},
		}
	}
	if c.opt.Zone == "" {
		c.opt.Zone = "UTC"
	}
	for _, src := range sources {
		if len(src.Data) > maxSource {
			c.note(place{src.Name, 1, 1}, Wrong, "is longer than %d MiB", maxSource>>20)
			continue
		}
		c.convert(src)
	}
	c.sort(sources)
	return c.Result
}

type crontabConverter struct {
	*Result
	opt   CrontabOptions
	zones *zones
	names *names
	home  bool // it was said where commands start
}

func (c *crontabConverter) convert(src Source) {
	tab := c.readCrontab(src)
	system, reason := tab.isSystem(c.opt.System)
	if reason != "" {
		c.note(place{src.Name, 1, 1}, Remark, "the column before the command is read as a user, as %s", reason)
	}
	for _, v := range tab.vars {
		c.aboutVariable(v)
	}
	c.aboutHome(tab)
	for _, e := range tab.entries {
		if system {
			user := nextWord(&e.text)
			skipBlanks(&e.text)
			if e.text.text == "" {
				c.note(e.place, Wrong, "the command is missing: this crontab has a user before it, here %q", user.text)
				continue
			}
			if !userName.MatchString(user.text) {
				c.note(e.place, Wrong, "%q is no user; if this crontab has none before its commands, say --system=false", user.text)
				continue
			}
			e.user = user.text
		}
		c.entry(e)
	}
}

// userName is a user, or with BSD a user, a group and a class.
var userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:$-]*$`)

// isSystem tells whether entries name a user, and why that is thought.
func (c *crontab) isSystem(told *bool) (system bool, reason string) {
	if told != nil {
		return *told, ""
	}
	dir, base := path.Split(path.Clean(strings.ReplaceAll(c.file, "\\", "/")))
	switch {
	case base == "crontab" && strings.HasSuffix(dir, "etc/"):
		return true, "the file is called etc/crontab"
	case strings.HasSuffix(dir, "cron.d/"):
		return true, "the file lies in cron.d"
	case c.header:
		return true, "a comment says so"
	case len(c.entries) == 0:
		return false, ""
	}
	for _, e := range c.entries {
		rest := e.text
		user := nextWord(&rest)
		skipBlanks(&rest)
		if !slices.Contains([]string{"root", "nobody", "daemon", "www-data"}, user.text) || rest.text == "" {
			return false, ""
		}
	}
	return true, "every line has a system account there"
}

// mailVariables concern the mail that cron sends.
var mailVariables = []string{"MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING"}

// aboutVariable notes once what is to be said about an environment line.
func (c *crontabConverter) aboutVariable(v variable) {
	external := c.opt.Mode == ModeExternal
	switch {
	case v.name == "CRON_TZ" || v.name == "TZ":
		if _, err := cron.LoadZone(v.value); err != nil {
			c.note(v.place, Wrong, "%s=%s: %q is not a time zone; the lines below are left out", v.name, v.value, v.value)
		} else if v.name == "TZ" {
			c.note(v.place, Remark, "TZ is taken for the zone of the lines below; cron of Debian and Red Hat times them by the machine's zone and gives TZ to the commands only: if yours does, rename it and say --tz")
		}
	case external:
	case slices.Contains(mailVariables, v.name):
		c.note(v.place, Lost, "%s: Duly sends no mail; it keeps the output with each attempt (duly occurrences show)", v.name)
	case v.name == "RANDOM_DELAY":
		c.note(v.place, Lost, "RANDOM_DELAY: jitter spreads starts, as in jitter: 15m")
	case strings.Contains(v.value, "$"):
		c.note(v.place, Remark, "%s: cron does not expand $ in a setting, and neither does Duly; it is carried over as it stands", v.name)
	}
}

// aboutHome notes once where commands start, unless the crontab says so.
func (c *crontabConverter) aboutHome(tab *crontab) {
	if c.opt.Mode == ModeExternal || c.home || len(tab.entries) == 0 {
		return
	}
	if _, set := tab.entries[0].variable("HOME"); !set {
		c.home = true
		c.note(tab.entries[0].place, Remark, "cron starts commands in the home of their user, with a PATH of /usr/bin:/bin; Duly starts them where duly serve was started, with its environment: dir and env set what matters")
	}
}

// entry converts one entry.
func (c *crontabConverter) entry(e *entry) {
	if e.macro == "@reboot" {
		c.note(e.place, Lost, "@reboot: a restart of one machine is no time that nodes could agree on; start it with the machine: %s", e.text.text)
		return
	}
	clk, fault := e.clock()
	if fault != nil {
		p := e.place
		p.col += fault.offset
		c.note(p, Wrong, "%s", fault.text)
		return
	}
	zone, known := e.zone(c.opt.Zone)
	if !known {
		c.note(e.place, Wrong, "left out, as its time zone is unknown")
		return
	}

	var notes []Note
	s := Schedule{Schedule: duly.Schedule{Description: e.description(), Timezone: unlessUTC(zone)}}
	cmd := e.command()
	w, rest, through := unwrapText(cmd.text)
	ids := candidates(s.Description, rest, e)
	if through {
		ids = append([]string{w.id}, ids...)
		notes = append(notes, e.note(Remark, "the line goes through duly exec already; the schedule keeps its ID and its periods"))
	}
	s.ID = c.names.choose(ids)
	if c.opt.Mode == ModeExternal {
		s.External, s.Period = true, clk.unit()
		if tz := w.flags["tz"]; tz != "" {
			s.Timezone = unlessUTC(tz)
		}
		if !through {
			s.Advice = e.advice(s.ID, s.Period)
		}
	} else {
		t := clk.vixie(c.zones.changes(zone))
		if e.macro != "" {
			t = timings{all: []duly.Timing{{Cron: e.macro}}}
		}
		t.into(&s.Schedule)
		for _, text := range t.notes {
			notes = append(notes, e.note(Changed, "%s", text))
		}
		if cmd.text = rest; !through && isNested(rest) {
			notes = append(notes, e.note(Lost, "%s", nested))
		}
		notes = append(notes, e.target(&s.Schedule, cmd)...)
		s.Overlap, s.CatchUp, s.Retry = c.common.Overlap, c.common.CatchUp, c.common.Retry
	}
	w.into(&s.Schedule)
	if suspect := e.suspicion(); suspect != "" {
		notes = append(notes, e.note(Remark, "%s", suspect))
	}
	c.add(e.place, s, notes)
}

// into sets a schedule's timing.
func (t *timings) into(s *duly.Schedule) {
	s.Timing = t.all[0]
	s.Timings = t.all[1:]
	s.Except = t.except
	s.DST = t.dst
}

// macros are the words of cron, which are fewer than Duly's and lower case.
var macros = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// clock reads the time fields. A fault's offset counts from the entry.
func (e *entry) clock() (clock, *fieldError) {
	words := e.words
	if e.macro != "" {
		expr, ok := macros[e.macro]
		if !ok {
			return clock{}, &fieldError{0, e.macro + " is not one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @reboot"}
		}
		rest := word{text: expr}
		for range fields {
			words = append(words, nextWord(&rest))
		}
	}
	clk, err := vixie.parseClock(words)
	if err != nil {
		err.offset -= e.start()
		if sixth := sixthField.MatchString(e.text.text); sixth {
			err.text += "; the line seems to have six time fields, and cron reads five, without seconds"
		}
		return clk, err
	}
	if first := e.text.text[0]; first == '*' || first == '?' {
		return clk, &fieldError{e.text.at - e.start(), fmt.Sprintf("the command begins with %c: the line seems to have six time fields, and cron reads five, without seconds or a year", first)}
	}
	return clk, nil
}

// start is where the entry begins in its line.
func (e *entry) start() int { return e.col - 1 }

// zone is the zone of the entry's times. It is unknown where the line that
// names it is wrong.
func (e *entry) zone(machine string) (name string, known bool) {
	zone := machine
	for _, setting := range []string{"TZ", "CRON_TZ"} { // the second counts more
		if value, set := e.variable(setting); set {
			zone = value
		}
	}
	_, err := cron.LoadZone(zone)
	return zone, err == nil || zone == machine // a fault of the option is for the caller
}

// unlessUTC leaves out the zone that a schedule has anyway.
func unlessUTC(zone string) string {
	if zone == "UTC" || zone == "Etc/UTC" {
		return ""
	}
	return zone
}

// variable returns the last setting of a variable.
func (e *entry) variable(name string) (value string, set bool) {
	for _, v := range e.env {
		if v.name == name {
			value, set = v.value, true
		}
	}
	return value, set
}

// maxDescription keeps a licence or a manual page out of a description.
const maxDescription = 300

func (e *entry) description() string {
	text := strings.Join(e.comments, " ")
	if len(text) <= maxDescription {
		return text
	}
	return strings.ToValidUTF8(text[:maxDescription], "") + " …"
}
