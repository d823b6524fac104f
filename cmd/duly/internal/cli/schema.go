package cli

import (
	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/config"
)

func (inv *invocation) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of duly.yaml, for editors",
		Example: "  duly schema > duly.schema.json",
		Args:    args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := inv.out.Write(config.Schema())
			return err
		},
	}
}
