package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/convert"
	"github.com/duly-dev/duly/cron"
)

const importLong = `Turns the schedules of another scheduler into a duly.yaml.

What is wrong with a file, what could not be carried over and what is written in
another way is said with file and line, on stderr and as a comment beside the
schedule. What can be read is converted, whatever is wrong with the rest; then
the exit code is 5.`

const importCrontabLong = `Turns the lines of crontabs into schedules. A FILE of - is standard input.

Environment lines, percent signs, day fields that begin with * and clock changes
mean what they mean to cron. IDs come from a short comment above a line, or from
its command; a line that is added at the end never changes the ID of another.

With --target external the crontab keeps the time, and a comment beside each
schedule shows the line that starts the command through duly exec.`

const importCrontabExample = `  crontab -l | duly import crontab - --tz Europe/Berlin -O duly.yaml
  duly import crontab /etc/crontab /etc/cron.d/* --target external`

const importKubernetesLong = `Turns CronJobs (batch/v1, batch/v1beta1, YAML or JSON, and lists of them) into
schedules. A FILE of - is standard input. The ID is namespace/name.

By default the CronJob keeps the time: the schedules are external ones, and a
comment beside each shows the container's command that goes through duly exec.
With --target exec Duly keeps the time and starts the container's command itself.`

const importKubernetesExample = `  kubectl get cronjobs -A -o yaml | duly import k8s - -O duly.yaml
  duly import k8s manifests/*.yaml --target exec --namespace billing`

const maxFiles = 10_000

// importFlags are what all imports have in common.
type importFlags struct {
	target string
	zone   string
	out    string
	force  bool
}

func (f *importFlags) register(c *cobra.Command, target convert.Mode, zone string) {
	flags := c.Flags()
	flags.StringVar(&f.target, "target", string(target), "`who` keeps the time: exec (Duly, which starts the command) or external (the platform, which calls duly exec)")
	flags.StringVar(&f.zone, "tz", "", zone)
	flags.StringVarP(&f.out, "out", "O", "", "write to this `file` instead of stdout")
	flags.BoolVar(&f.force, "force", false, "overwrite that file")
	complete(c, "target", string(convert.ModeExec), string(convert.ModeExternal))
}

func (f *importFlags) check() error {
	if f.target != string(convert.ModeExec) && f.target != string(convert.ModeExternal) {
		return usagef("--target is %q; it must be exec or external", f.target)
	}
	if f.zone != "" {
		if _, err := cron.LoadZone(f.zone); err != nil {
			return duly.Invalid("--tz", "%v", err)
		}
	}
	return nil
}

func (inv *invocation) importCommand() *cobra.Command {
	c := &cobra.Command{Use: "import", Short: "Make a duly.yaml of crontabs or Kubernetes CronJobs", Long: importLong}
	c.AddCommand(inv.importCrontab(), inv.importKubernetes())
	return asGroup(c)
}

func (inv *invocation) importCrontab() *cobra.Command {
	var f importFlags
	var system bool
	c := &cobra.Command{
		Use:     "crontab FILE...",
		Short:   "Make a duly.yaml of crontabs",
		Long:    importCrontabLong,
		Example: importCrontabExample,
		Args:    args(1, maxFiles),
		RunE: func(c *cobra.Command, files []string) error {
			sources, err := inv.sources(&f, files)
			if err != nil {
				return err
			}
			opt := convert.CrontabOptions{Mode: convert.Mode(f.target), Zone: f.zone}
			if opt.Zone == "" {
				var from string
				opt.Zone, from = inv.machineZone()
				inv.note("times are taken to be in %s, %s; --tz names another zone", opt.Zone, from)
			}
			if c.Flags().Changed("system") {
				opt.System = &system
			}
			return inv.printImport(&f, convert.Crontab(sources, opt))
		},
	}
	f.register(c, convert.ModeExec, "the time `zone` of the machine the crontab is from (default that of this one)")
	c.Flags().BoolVar(&system, "system", false, "the column before the command is a user, as in /etc/crontab (default told from the file)")
	return c
}

func (inv *invocation) importKubernetes() *cobra.Command {
	var f importFlags
	var namespace string
	c := &cobra.Command{
		Use:     "k8s FILE...",
		Short:   "Make a duly.yaml of Kubernetes CronJobs",
		Long:    importKubernetesLong,
		Example: importKubernetesExample,
		Args:    args(1, maxFiles),
		RunE: func(_ *cobra.Command, files []string) error {
			sources, err := inv.sources(&f, files)
			if err != nil {
				return err
			}
			return inv.printImport(&f, convert.Kubernetes(sources, convert.KubernetesOptions{
				Mode: convert.Mode(f.target), Zone: f.zone, Namespace: namespace,
			}))
		},
	}
	f.register(c, convert.ModeExternal, "the time `zone` of CronJobs without a timeZone, which is that of the cluster's controllers (default UTC)")
	c.Flags().StringVar(&namespace, "namespace", "", "the `namespace` of CronJobs that name none")
	return c
}

// sources checks the flags and reads the files.
func (inv *invocation) sources(f *importFlags, files []string) ([]convert.Source, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	var all []convert.Source
	for _, file := range files {
		data, err := inv.readSource(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, duly.Errorf(duly.CodeNotFound, "%s does not exist", file)
		case err != nil:
			return nil, duly.Errorf(duly.CodeInvalid, "%s cannot be read: %w", file, err)
		}
		if file == "-" {
			file = "stdin"
		}
		all = append(all, convert.Source{Name: file, Data: data})
	}
	return all, nil
}

// readSource reads a file, bounded: what is longer is refused by the conversion.
func (inv *invocation) readSource(file string) ([]byte, error) {
	const limit = 16 << 20
	if file == "-" {
		return io.ReadAll(io.LimitReader(inv.in, limit))
	}
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, limit))
}

// machineZone names the zone of this machine's clock, and how that is known.
func (inv *invocation) machineZone() (zone, from string) {
	known := func(name string) bool {
		_, err := cron.LoadZone(name)
		return err == nil
	}
	if zone := strings.TrimPrefix(inv.getenv("TZ"), ":"); known(zone) {
		return zone, "as TZ says"
	}
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, zone, ok := strings.Cut(target, "zoneinfo/"); ok && known(zone) {
			return zone, "the zone of this machine"
		}
	}
	if text, err := os.ReadFile("/etc/timezone"); err == nil {
		if zone := strings.TrimSpace(string(text)); known(zone) {
			return zone, "the zone of this machine"
		}
	}
	return "UTC", "as this machine does not name its zone"
}

// printImport writes what was made and says what was not.
func (inv *invocation) printImport(f *importFlags, r *convert.Result) error {
	text := r.YAML()
	if inv.flags.output == formatJSON {
		json, err := jsonText(r)
		if err != nil {
			return err
		}
		text = []byte(json)
	}
	if err := inv.writeImport(f, text); err != nil {
		return err
	}
	for _, n := range r.Notes {
		inv.note("%s", clean(n.String()))
	}
	inv.note("%s", importSummary(r))
	if r.Count(convert.Wrong) > 0 {
		return statusError{code: exitInvalid}
	}
	return nil
}

func (inv *invocation) writeImport(f *importFlags, text []byte) error {
	if f.out == "" {
		_, err := inv.out.Write(text)
		return err
	}
	how := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if f.force {
		how = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	file, err := os.OpenFile(f.out, how, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return withHint(duly.Errorf(duly.CodeConflict, "%s exists already", f.out), "overwrite it with --force, or choose another name with -O")
	}
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

func importSummary(r *convert.Result) string {
	parts := []string{counted(len(r.Schedules), "schedule", "schedules")}
	for _, c := range []struct {
		kind      convert.Kind
		one, many string
	}{
		{convert.Wrong, "thing is wrong", "things are wrong"},
		{convert.Lost, "thing could not be carried over", "things could not be carried over"},
		{convert.Changed, "thing is written in another way", "things are written in another way"},
	} {
		if n := r.Count(c.kind); n > 0 {
			parts = append(parts, counted(n, c.one, c.many))
		}
	}
	return strings.Join(parts, "; ") + "."
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
