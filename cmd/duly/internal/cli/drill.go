package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/duly-dev/duly/drill"
)

const drillLong = `Proves recovery on this machine: starts real processes, kills them, pauses them,
takes their store away, and counts what came of it. All of it happens in a
scratch store: files in the temporary folder or, with --store postgres://…, a
schema that is dropped afterwards. DULY_STORE is ignored.

Without more it drills the built-in invoice sample. With --exec or --url it
drills a job of your own, against your own test database, which --count counts:
one number, or a line for each effect with its number last. A job may print

  duly: effect KEY       at the moment of an effect
  duly: reused KEY       when it found one done

or append such lines to the file that DULY_DRILL_MARKER names; the strike is then
placed at that very moment. Otherwise the count tells. "duly drill ls" explains
the scenarios, docs/drills.md what their verdicts mean.

Exits with 1 when a promise was broken.`

// drillFlags are the flags of `duly drill`.
type drillFlags struct {
	exec, url, count, from string
	repeat, parallel       int
	lease                  time.Duration
	html, junit            string
	watch, timeline        bool
}

func (inv *invocation) drillCommand() *cobra.Command {
	var f drillFlags
	c := &cobra.Command{
		Use:   "drill [SCENARIO...]",
		Short: "Prove recovery: crash, pause and cut off nodes, and count the effects",
		Long:  drillLong,
		Example: `  duly drill
  duly drill crash-after-effect pause-past-lease --watch
  duly drill --store postgres://duly@localhost/test --html drill.html --junit drill.xml
  duly drill --exec 'node invoice.js' --repeat 20 \
     --count "psql -tAc 'select customer, period, count(*) from invoices group by 1, 2'"`,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: drill.Names(),
		RunE:      func(c *cobra.Command, names []string) error { return inv.drill(c.Context(), names, f, c.Flags()) },
	}
	flags := c.Flags()
	flags.StringVar(&f.exec, "exec", "", "drill this shell `command`, which makes one attempt")
	flags.StringVar(&f.url, "url", "", "drill the job behind this `URL`, which gets a request for each attempt")
	flags.StringVar(&f.count, "count", "", "the shell `command` that counts effects; required with --exec and --url")
	flags.StringVar(&f.from, "from", "", "the first business `date` to use, with days after it that were not worked on (default random)")
	flags.IntVar(&f.repeat, "repeat", 1, "play each scenario so `often`; strikes at your own job are spread over its attempt")
	flags.IntVar(&f.parallel, "parallel", 0, "how `many` scenarios to play at once (default 4; 1 with a job of your own)")
	flags.DurationVar(&f.lease, "lease", time.Second, "the schedules' `lease`")
	flags.StringVar(&f.html, "html", "", "write a report with timelines to this `file`")
	flags.StringVar(&f.junit, "junit", "", "write a report for CI to this `file`")
	flags.BoolVar(&f.watch, "watch", false, "show what happens as it happens")
	flags.BoolVar(&f.timeline, "timeline", false, "print every scenario's timeline, not only those that failed")
	c.AddCommand(inv.drillListCommand())
	return c
}

// drillNodeCommand is a node of a drill: this program started again.
func (inv *invocation) drillNodeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "drill-node", Hidden: true, Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return drill.RunNode(c.Context(), inv.in, inv.out, inv.err)
		},
	}
}

func (f *drillFlags) options(given *pflag.FlagSet) (drill.Options, error) {
	opt := drill.Options{Repeat: f.repeat, Parallel: f.parallel, Lease: f.lease}
	// Most likely a variable that was not set: the sample instead would pass.
	for name, value := range map[string]string{"exec": f.exec, "url": f.url} {
		if given.Changed(name) && value == "" {
			return opt, usagef("--%s is empty; say what to drill, or leave it out to drill the built-in sample", name)
		}
	}
	if f.exec == "" && f.url == "" {
		if f.count != "" || f.from != "" {
			return opt, usagef("--count and --from belong to a job of your own: say which with --exec or --url")
		}
		return opt, nil
	}
	opt.Job = &drill.Job{Exec: f.exec, URL: f.url, Count: f.count}
	if f.from != "" {
		from, err := time.Parse(time.DateOnly, f.from)
		if err != nil {
			return opt, usagef("--from is %q; write a date, as in 2019-01-01", f.from)
		}
		opt.Job.From = from
	}
	return opt, nil
}

func (inv *invocation) drill(ctx context.Context, names []string, f drillFlags, given *pflag.FlagSet) error {
	if inv.flags.server != "" {
		return usagef("drill breaks a store of its own; --server names a server")
	}
	opt, err := f.options(given)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("this program cannot be started again: %w", err)
	}
	opt.Command = []string{self, "drill-node"}
	opt.Scenarios = names
	opt.Store = inv.flags.store // never DULY_STORE: that is where real work lives
	reports, err := openReports(f.html, f.junit)
	if err != nil {
		return err
	}
	defer reports.close()
	inv.followDrill(&opt, f)

	report, err := drill.Run(ctx, opt)
	if err != nil {
		return err
	}
	if err := reports.write(report); err != nil {
		return err
	}
	if err := inv.print(report, func() error { return inv.showDrill(report, f.timeline) }); err != nil {
		return err
	}
	if report.Verdict == drill.Fail {
		return statusError{code: exitFailure}
	}
	return nil
}

// followDrill shows on stderr how far a drill is.
func (inv *invocation) followDrill(opt *drill.Options, f drillFlags) {
	var mu sync.Mutex
	began := time.Now()
	if f.watch {
		opt.Watch = func(scenario string, m drill.Mark) {
			mu.Lock()
			defer mu.Unlock()
			inv.note("%7.2fs  %-19s %-7s %s", m.At.Sub(began).Seconds(), scenario, m.Node, clean(m.Words()))
		}
	}
	if f.watch || isTerminal(inv.err) {
		opt.Done = func(r drill.Result) {
			mu.Lock()
			defer mu.Unlock()
			inv.note("%7.2fs  %-19s %s", time.Since(began).Seconds(), r.Name, r.Verdict)
		}
	}
}

// reportFiles are opened before the drill: minutes later is too late to learn
// that a folder does not exist.
type reportFiles struct{ html, junit *os.File }

func openReports(html, junit string) (reportFiles, error) {
	var files reportFiles
	for _, f := range []struct {
		name string
		to   **os.File
	}{{html, &files.html}, {junit, &files.junit}} {
		if f.name == "" {
			continue
		}
		file, err := os.Create(f.name)
		if err != nil {
			files.close()
			return files, fmt.Errorf("the report: %w", err)
		}
		*f.to = file
	}
	return files, nil
}

func (r reportFiles) close() {
	for _, f := range []*os.File{r.html, r.junit} {
		if f != nil {
			_ = f.Close() // written files were closed before
		}
	}
}

func (r reportFiles) write(report *drill.Report) error {
	for _, f := range []struct {
		file  *os.File
		write func(io.Writer) error
	}{{r.html, report.WriteHTML}, {r.junit, report.WriteJUnit}} {
		if f.file == nil {
			continue
		}
		if err := f.write(f.file); err != nil {
			return err
		}
		if err := f.file.Close(); err != nil {
			return err
		}
	}
	return nil
}
