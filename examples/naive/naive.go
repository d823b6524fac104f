package main

import (
	"context"
	"fmt"
	"time"
)

// billNaively has two mistakes that no test finds on a quiet day.
func (b *billing) billNaively(ctx context.Context, period string) error {
	// Mistake one: a lock with an end and without a fence. Whoever was paused
	// past that end still believes in it.
	free, err := b.take(ctx, "billing")
	if err != nil {
		return err
	}
	if !free {
		fmt.Println("somebody else is billing; nothing to do")
		return nil
	}
	defer b.giveBack("billing")

	time.Sleep(b.work)

	// Mistake two: nothing here knows that these invoices may exist.
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // says so once it is committed
	for _, c := range customers {
		if _, err := tx.ExecContext(ctx, `INSERT INTO invoices (customer, period) VALUES (?, ?)`, c, period); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (b *billing) take(ctx context.Context, name string) (bool, error) {
	now := time.Now()
	res, err := b.db.ExecContext(ctx, `INSERT INTO locks (name, until) VALUES (?, ?)
		ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE until < ?`, name, now.Add(b.lock).UnixMilli(), now.UnixMilli())
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (b *billing) giveBack(name string) {
	_, _ = b.db.Exec(`DELETE FROM locks WHERE name = ?`, name) // it ends by itself otherwise
}
