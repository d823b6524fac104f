package effect

import (
	"context"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// Migrate creates the ledger's tables where they do not exist. Where they do it
// changes nothing and needs no right to create any, so every node may call it
// at its start.
func Migrate[X any](ctx context.Context, db DB[X]) error {
	d := Dialect(db.Dialect())
	if err := db.Dialect().Check(); err != nil {
		return err
	}
	var err error
	for range 5 {
		if migrated(ctx, db) == nil {
			return nil
		}
		// Two nodes that create the same table at the same moment can be in
		// each other's way; whoever comes second finds it.
		if err = create(ctx, db, DDL(d)); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return duly.Errorf(duly.CodeOf(err), "the effect ledger's tables cannot be created: %w", err)
}

// migrated is nil where the tables are there as they should be.
func migrated[X any](ctx context.Context, db DB[X]) error {
	return sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) error {
		if _, err := readRows(ctx, tx, "FROM duly_effects WHERE 1 = 0"); err != nil {
			return err
		}
		probes := []string{
			"SELECT claim, part, results, occurrence, attempt, token, resource, created_at FROM duly_batches WHERE 1 = 0",
			"SELECT resource, token, raised_at FROM duly_fences WHERE 1 = 0",
		}
		if tx.Dialect() == sqldb.MySQL {
			probes = append(probes, "SELECT DEFAULT(state) FROM duly_effects WHERE 1 = 0")
		}
		for _, probe := range probes {
			if err := tx.Query(ctx, probe, nil, func(sqldb.Row) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	})
}

func create[X any](ctx context.Context, db DB[X], ddl string) error {
	return sqldb.InTx(ctx, db, func(tx sqldb.Session[X]) error {
		for _, stmt := range statements(ddl) {
			if _, err := tx.Exec(ctx, stmt); err != nil {
				return err
			}
		}
		return nil
	})
}

// statements splits our own DDL, whose comments are the only other place where
// a semicolon may stand.
func statements(ddl string) []string {
	var code strings.Builder
	for line := range strings.Lines(ddl) {
		before, _, _ := strings.Cut(line, "--")
		code.WriteString(strings.TrimRight(before, " \n") + "\n")
	}
	var all []string
	for stmt := range strings.SplitSeq(code.String(), ";") {
		if stmt = strings.TrimSpace(stmt); stmt != "" {
			all = append(all, stmt)
		}
	}
	return all
}
