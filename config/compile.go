package config

import (
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/plan"
)

// compile lets the package that decides on schedules judge one. Its timings are
// judged also where something else is wrong with it, and its other timings also
// where its zone is.
func (r *reader) compile(e entry, whole *node, s duly.Schedule) {
	p, errs := plan.Compile(s)
	if p == nil && len(s.Validate()) > 0 {
		times := duly.Schedule{
			ID: "times", Target: duly.Target{Handler: "times"},
			Timing: s.Timing, Timings: s.Timings, Except: s.Except, External: s.External,
			Timezone: s.Timezone, DST: s.DST, Start: s.Start, End: s.End,
			Period: s.Period, PeriodOffset: s.PeriodOffset, Calendar: s.Calendar,
		}
		if len(times.Validate()) == 0 {
			_, more := plan.Compile(times)
			errs = append(errs, more...)
			s = times
		}
	}
	if len(errs) > 0 && errs[len(errs)-1].Field == "timezone" {
		s.Timezone = ""
		_, more := plan.Compile(s)
		errs = append(errs, more...)
	}
	r.objections(e, whole, errs)
	if p == nil {
		return
	}
	for _, w := range p.Warnings() {
		path, text, _ := strings.Cut(w, ": ")
		at, _, _ := locate(e, whole, path)
		r.warn(at, "%s", r.censor(at, text))
	}
}
