package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// notNegative refuses durations that nobody can mean.
func notNegative(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if d, fault := time.ParseDuration(f.Value.String()); fault == nil && f.Value.Type() == "duration" && d < 0 {
			err = usagef("--%s is %s; it cannot be negative", f.Name, f.Value)
		}
	})
	return err
}

// noteUnused tells of flags that say another thing than the schedule, which
// existed before and goes by its own definition. Were a zone changed in a
// crontab alone, its business dates would silently be those of the old one.
func (inv *invocation) noteUnused(ctx context.Context, client *api.Client, schedule string, f execFlags) {
	if !slices.ContainsFunc([]string{"tz", "period-unit", "period-offset", "lease", "timeout"}, f.given) {
		return
	}
	status, err := client.Schedule(ctx, schedule)
	if err != nil {
		return // no reason to leave the work undone
	}
	def := status.Schedule
	for _, flag := range []struct{ name, given, is string }{
		{"tz", f.tz, cmp.Or(def.Timezone, "UTC")},
		{"period-unit", f.unit, string(def.Period)},
		{"period-offset", strconv.Itoa(f.offset), strconv.Itoa(def.PeriodOffset)},
		{"lease", f.lease.String(), cmp.Or(def.Lease, duly.DefaultLease).Std().String()},
		{"timeout", f.timeout.String(), def.Timeout.Std().String()},
	} {
		if f.given(flag.name) && flag.given != flag.is {
			inv.note("--%s %s has no effect: schedule %s exists, with %s", flag.name, flag.given, schedule, flag.is)
		}
	}
}
