package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
)

// billGuarded is the same work, without a lock: each invoice has a business
// key, and the fence is checked in the transaction that writes.
func (b *billing) billGuarded(ctx context.Context, grant duly.Grant, covers string) error {
	ledger := effect.SQLite.DB(b.db)
	if err := effect.Migrate(ctx, ledger); err != nil {
		return err
	}
	var periods []string
	if err := json.Unmarshal([]byte(covers), &periods); err != nil {
		return fmt.Errorf("the covered periods %q: %w", covers, err)
	}
	ctx = duly.WithGrant(ctx, grant)
	if err := sleep(ctx, b.work); err != nil {
		return err
	}
	for _, period := range periods {
		for _, c := range customers {
			key := "invoice/" + c + "/" + period
			_, reused, err := effect.Do(ctx, ledger, key, func(ctx context.Context, tx *sql.Tx) (struct{}, error) {
				_, err := tx.ExecContext(ctx, `INSERT INTO invoices (customer, period) VALUES (?, ?)`, c, period)
				return struct{}{}, err
			})
			if err != nil {
				return err
			}
			// For the drill, which strikes at this very moment.
			if reused {
				fmt.Println("duly: reused " + key)
			} else {
				fmt.Println("duly: effect " + key)
			}
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
