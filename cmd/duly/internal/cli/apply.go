package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/config"
	"github.com/duly-dev/duly/store"
)

const defaultFile = "duly.yaml"

// fileFlags are what apply and plan have in common.
type fileFlags struct {
	file, owner  string
	prune, force bool
}

func (f *fileFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.file, "file", "f", defaultFile, "the `file` with definitions")
	c.Flags().StringVar(&f.owner, "owner", "", "`who` owns the definitions (default file: and the file's name)")
	c.Flags().BoolVar(&f.prune, "prune", false, "remove what the same owner has and the file has not")
	c.Flags().BoolVar(&f.force, "force", false, "take over what somebody else owns")
	if err := c.MarkFlagFilename("file", "yaml", "yml"); err != nil {
		panic(err)
	}
	c.ValidArgsFunction = cobra.NoFileCompletions
}

// request reads the file. Files of the same name have the same owner, wherever
// they lie: a pipeline checks out to a new folder each time.
func (f *fileFlags) request() (api.ApplyRequest, *config.File, error) {
	file, err := config.Load(f.file)
	if err != nil {
		return api.ApplyRequest{}, nil, fileHint(err, f.file)
	}
	owner := f.owner
	if owner == "" {
		owner = "file:" + filepath.Base(f.file)
	}
	return api.ApplyRequest{Owner: owner, Schedules: file.Schedules, Queues: file.Queues, Prune: f.prune, Force: f.force}, file, nil
}

func fileHint(err error, file string) error {
	if duly.CodeOf(err) == duly.CodeNotFound {
		return withHint(err, "name the file with -f; its shape is printed by: duly schema")
	}
	return err
}

const applyLong = `Makes the definitions of a file the ones in force, all or none. What has not
changed is left alone. See first what would change with: duly plan.

The file owns what it defines. --prune removes what it defined before and does
not any more; on a terminal that is asked first.`

func (inv *invocation) applyCommand() *cobra.Command {
	var f fileFlags
	var yes bool
	c := &cobra.Command{
		Use:   "apply [-f FILE]",
		Short: "Make the definitions of a file the ones in force",
		Long:  applyLong,
		Args:  args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			req, file, err := f.request()
			if err != nil {
				return err
			}
			inv.warn(file)
			client, err := inv.act(c.Context())
			if err != nil {
				return err
			}
			if err := inv.confirmPrune(c.Context(), client, req, yes); err != nil {
				return err
			}
			done, err := client.Apply(c.Context(), req)
			if err != nil {
				return withForceHint(err)
			}
			return inv.print(done, func() error { return inv.showChanges(done.Changes, "") })
		},
	}
	f.register(c)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask before removing")
	return c
}

// confirmPrune asks before schedules are removed.
func (inv *invocation) confirmPrune(ctx context.Context, client *api.Client, req api.ApplyRequest, yes bool) error {
	if !req.Prune || yes || !isTerminal(inv.in) {
		return nil
	}
	req.DryRun = true
	would, err := client.Apply(ctx, req)
	if err != nil {
		return withForceHint(err)
	}
	var ids []string
	for _, c := range would.Changes {
		if c.Action == store.ActionRemove {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return inv.confirm(yes, "Remove "+strings.Join(ids, ", ")+" and cancel what is open of them?")
}

// warn prints what is allowed in a file but probably not meant.
func (inv *invocation) warn(file *config.File) {
	if len(file.Warnings) > 0 {
		inv.note("%s", file.Warnings)
	}
}

// showChanges prints what changed, or would.
func (inv *invocation) showChanges(changes []store.Change, would string) error {
	w := inv.paper()
	for line := range strings.Lines(config.Diff(changes)) {
		if _, err := fmt.Fprintln(w, diffStyle(line).Render(strings.TrimRight(line, "\n"))); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, changeSummary(changes, would))
	return err
}

func diffStyle(line string) lipgloss.Style {
	switch {
	case strings.HasPrefix(line, "+"):
		return wordStyle(string(store.ActionCreate))
	case strings.HasPrefix(line, "~"):
		return wordStyle(string(store.ActionUpdate))
	case strings.HasPrefix(line, "-"):
		return wordStyle(string(store.ActionRemove))
	case strings.HasPrefix(line, "="):
		return wordStyle(string(store.ActionKeep))
	}
	return lipgloss.NewStyle()
}

func changeSummary(changes []store.Change, would string) string {
	count := countChanges(changes)
	if count[store.ActionCreate]+count[store.ActionUpdate]+count[store.ActionRemove] == 0 {
		return "No changes."
	}
	return fmt.Sprintf("%d %screated, %d %supdated, %d %sremoved, %d unchanged.",
		count[store.ActionCreate], would, count[store.ActionUpdate], would, count[store.ActionRemove], would, count[store.ActionKeep])
}

func countChanges(changes []store.Change) map[store.Action]int {
	count := map[store.Action]int{}
	for _, c := range changes {
		count[c.Action]++
	}
	return count
}
