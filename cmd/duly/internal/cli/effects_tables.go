package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly/effect"
)

func (inv *invocation) effectsDDL() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "ddl --dialect sqlite|postgres|mysql",
		Short: "Print the SQL that creates the ledger's tables",
		Long: `Prints the SQL that creates the effect ledger's tables in the application's
database, for those who keep their migrations in files. It can be carried out
again: tables that exist are left as they are.`,
		Example: "  duly effects ddl --dialect postgres > migrations/0042_duly_effects.sql",
		Args:    args(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if name == "" {
				return usagef("--dialect is missing; it must be one of sqlite, postgres, mysql")
			}
			dialect, err := effect.ParseDialect(name)
			if err != nil {
				return usagef("--dialect is %q; it must be one of sqlite, postgres, mysql", name)
			}
			out := struct {
				Dialect effect.Dialect `json:"dialect"`
				SQL     string         `json:"sql"`
			}{dialect, effect.DDL(dialect)}
			return inv.print(out, func() error {
				_, err := fmt.Fprint(inv.out, out.SQL)
				return err
			})
		},
	}
	c.Flags().StringVar(&name, "dialect", "", "the `kind` of SQL: sqlite, postgres or mysql (MariaDB too)")
	complete(c, "dialect", string(effect.SQLite), string(effect.Postgres), string(effect.MySQL))
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

func (inv *invocation) effectsMigrate() *cobra.Command {
	var url string
	c := &cobra.Command{
		Use:     "migrate --db URL",
		Short:   "Create the ledger's tables in the application's database",
		Example: "  duly effects migrate --db postgres://app@db/billing",
		Args:    args(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			db, err := inv.ledger(c.Context(), url, toMake)
			if err != nil {
				return err
			}
			if err := effect.Migrate(c.Context(), db); err != nil {
				return withHint(err, "or have them created by whoever may: duly effects ddl --dialect %s", db.Dialect())
			}
			inv.say("the effect ledger's tables are there")
			return nil
		},
	}
	dbFlag(c, &url)
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}
