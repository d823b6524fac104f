package cli

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/duly-dev/duly"
)

const (
	groupDefine  = "define"
	groupLook    = "look"
	groupServe   = "serve"
	groupHelpers = "helpers"
)

const rootLong = `Duly makes scheduled work happen when it is due, on one node, with one effect.

A schedule produces occurrences. An occurrence is tried in attempts. Attempts
cause effects.

Commands work on a store (--store or DULY_STORE, by default sqlite:duly.db), or
talk to a server (--server or DULY_SERVER, with a token in DULY_TOKEN).`

const rootExample = `  duly next '0 2 * * *' --tz Europe/Berlin     when is that?
  duly apply -f duly.yaml                      make the definitions of a file the ones in force
  duly serve                                   do what is due; any number of these share a store
  duly occurrences show invoices@2026-11-28    what happened that day?`

// root makes the tree of commands.
func (inv *invocation) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "duly",
		Short:         "Scheduled work: when it is due, on one node, with one effect",
		Long:          rootLong,
		Example:       rootExample,
		Version:       duly.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddGroup(
		&cobra.Group{ID: groupDefine, Title: "Define schedules:"},
		&cobra.Group{ID: groupLook, Title: "Look and step in:"},
		&cobra.Group{ID: groupServe, Title: "Do the work:"},
		&cobra.Group{ID: groupHelpers, Title: "Helpers:"},
	)
	root.SetHelpCommandGroupID(groupHelpers)
	root.SetCompletionCommandGroupID(groupHelpers)
	root.SetFlagErrorFunc(flagError)

	f := root.PersistentFlags()
	f.StringVar(&inv.flags.store, "store", "", "the `store` to work on, such as sqlite:duly.db (DULY_STORE)")
	f.StringVar(&inv.flags.server, "server", "", "the `address` of a server to talk to instead, such as https://duly.example (DULY_SERVER, DULY_TOKEN)")
	f.StringVarP(&inv.flags.output, "output", "o", "table", "the `form` to print: table, json or yaml")
	f.StringVar(&inv.flags.by, "by", "", "`who` asks, for the audit (default user@host)")
	complete(root, "output", formats...)
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return inv.checkFlags() }

	inGroup(root, groupDefine, inv.nextCommand(), inv.planCommand(), inv.applyCommand(), inv.schemaCommand(), inv.importCommand())
	inGroup(root, groupLook, inv.schedulesCommand(), inv.occurrencesCommand(), inv.effectsCommand(), inv.queuesCommand(), inv.nodesCommand(), inv.leasesCommand(), inv.auditCommand())
	inGroup(root, groupServe, inv.serveCommand(), inv.execCommand(), inv.lockCommand(), inv.migrateCommand())
	inGroup(root, groupHelpers, inv.drillCommand(), inv.benchCommand(), inv.versionCommand())
	root.AddCommand(exitCodesTopic(), inv.drillNodeCommand())
	asGroup(root)
	refuseUnknownHelp(root)
	return root
}

// refuseUnknownHelp has `duly help WORD` say that there is no such command,
// where cobra shows the help of all.
func refuseUnknownHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		panic("cobra has no help command")
	}
	show := help.Run
	help.RunE = func(c *cobra.Command, args []string) error {
		if found, rest, err := root.Find(args); err == nil && len(rest) > 0 && found.HasSubCommands() {
			return unknownCommand(found, rest[0])
		}
		show(c, args)
		return nil
	}
}

func inGroup(root *cobra.Command, id string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// asGroup makes a command that only holds others. It shows its help when
// called alone and refuses words that it does not know.
func asGroup(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
	return c
}

func unknownCommand(c *cobra.Command, word string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	err := usagef("%s has no command %q", c.CommandPath(), word)
	if near := nearest(word, names); near != "" {
		return withHint(err, "did you mean: %s %s", c.CommandPath(), near)
	}
	return withHint(err, "it has: %s", strings.Join(names, ", "))
}

// flagError makes an error of a flag that cannot be read, with the one that
// may have been meant.
func flagError(c *cobra.Command, err error) error {
	text := err.Error()
	name, unknown := strings.CutPrefix(text, "unknown flag: --")
	if !unknown {
		return usageError{err}
	}
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	c.LocalFlags().VisitAll(add)
	c.InheritedFlags().VisitAll(add)
	wrong := usagef("%s has no flag --%s", c.CommandPath(), name)
	if near := nearest(name, names); near != "" {
		return withHint(wrong, "did you mean: --%s", near)
	}
	return wrong
}

// args checks the number of arguments in the words of the command's usage.
func args(low, high int) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if len(given) >= low && len(given) <= high {
			return nil
		}
		if len(given) < low {
			return withHint(usagef("something is missing after %q", c.CommandPath()), "usage: %s", c.UseLine())
		}
		return withHint(usagef("%q is one argument too many", given[high]), "usage: %s", c.UseLine())
	}
}

func (inv *invocation) checkFlags() error {
	if inv.flags.store != "" && inv.flags.server != "" {
		return usagef("--store and --server exclude each other: work on a store here, or talk to a server")
	}
	if !slices.Contains(formats, inv.flags.output) {
		return usagef("--output is %q; it must be one of %s", inv.flags.output, strings.Join(formats, ", "))
	}
	return nil
}

// actor names who asks, for the audit.
func (inv *invocation) actor() string {
	if inv.flags.by != "" {
		return inv.flags.by
	}
	name := inv.getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s@%s", name, host)
}

// complete offers fixed words for a flag.
func complete(c *cobra.Command, flag string, words ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag was not defined before
	}
}

func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What exit codes mean", Long: exitCodesText()}
}
