package cli

import (
	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/store"
)

func (inv *invocation) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate",
		Short: "Make a store, or bring its schema to this version",
		Long: `Makes a store, or brings its schema to what this version needs. Commands that
change something do so by themselves; this is for those who want it done apart,
before a new version is rolled out.`,
		Args: args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if url := inv.serverURL(); url != "" {
				return withHint(usagef("a server migrates its own store"), "name the store with --store")
			}
			st, err := store.Open(c.Context(), inv.storeURL(), store.Options{})
			if err != nil {
				return err
			}
			if err := st.Close(); err != nil {
				return err
			}
			inv.say("%s is ready for this version", visibleURL(inv.storeURL()))
			return nil
		},
	}
}
