//go:build unix

package effect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sqltest"
)

// BenchmarkBatch compares 10,000 effects in one transaction with a plain
// multi-row INSERT of the same bills in the same run, in turns, on servers that
// sync to the disk. It reports medians: rows a second, and the share of the plain
// rate that is left in the same round: with and without results to keep, and with business keys that
// begin with the customer, which scatters a batch over the whole ledger, or with
// the period, which keeps it together.
func BenchmarkBatch(b *testing.B) {
	durable := sqltest.Servers{Durable: true}
	b.Cleanup(durable.Stop)
	for _, r := range []*rig{
		prepared(b, openSQL(b, sqltest.SQLite(b))), prepared(b, openSQL(b, durable.Postgres(b))),
		prepared(b, openPGX(b, durable.Postgres(b))), prepared(b, openSQL(b, durable.MariaDB(b))),
	} {
		id := map[string]string{"sqlite": "INTEGER PRIMARY KEY", "postgres": "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "mysql": "BIGINT AUTO_INCREMENT PRIMARY KEY"}[r.Dialect]
		r.exec(b, "CREATE TABLE bills (id "+id+", customer INTEGER NOT NULL, period VARCHAR(40) NOT NULL, cents INTEGER NOT NULL, address VARCHAR(200) NOT NULL, UNIQUE (customer, period))")
		b.Run(r.name, func(b *testing.B) { compareBatch(b, r) })
	}
}

func compareBatch(b *testing.B, r *rig) {
	const n = 10_000
	all := customers(n)
	ctx := owner(b.Context(), 1, nil)
	insert := func(ctx context.Context, tx *txn, missing []int, period string) error {
		for chunk := range slices.Chunk(missing, 1000) {
			var q strings.Builder
			q.WriteString("INSERT INTO bills (customer, period, cents, address) VALUES ")
			for i, customer := range chunk {
				if i > 0 {
					q.WriteByte(',')
				}
				fmt.Fprintf(&q, "(%d, '%s', %d, 'Lange Strasse %d, 20095 Hamburg')", customer, period, 1000+customer, customer)
			}
			if err := tx.exec(ctx, q.String()); err != nil {
				return err
			}
		}
		return nil
	}
	customerFirst := invoiceKey
	periodFirst := func(period string) func(int) string {
		return func(customer int) string { return fmt.Sprintf("bill/%s/%d", period, customer) }
	}
	keys := func(key func(string) func(int) string) func(period string) error {
		return func(period string) error {
			_, _, err := r.doPlainBatch(ctx, all, n, key(period), func(ctx context.Context, tx *txn, missing []int) error {
				return insert(ctx, tx, missing, period)
			})
			return err
		}
	}
	results := func(key func(string) func(int) string) func(period string) error {
		return func(period string) error {
			_, _, err := r.doBatch(ctx, all, n, key(period), func(ctx context.Context, tx *txn, missing []int) ([]Invoice, error) {
				made := make([]Invoice, len(missing))
				for i, customer := range missing {
					made[i] = Invoice{Customer: customer, Period: period}
				}
				return made, insert(ctx, tx, missing, period)
			})
			return err
		}
	}
	ways := []struct {
		name string
		do   func(period string) error
	}{
		{"plain", func(period string) error {
			tx := r.open(b, ctx)
			if err := insert(ctx, tx, all, period); err != nil {
				return err
			}
			return tx.commit()
		}},
		{"keys/customer", keys(customerFirst)},
		{"keys/period", keys(periodFirst)},
		{"results/customer", results(customerFirst)},
		{"results/period", results(periodFirst)},
	}
	took, shares := make([][]float64, len(ways)), make([][]float64, len(ways))
	for round := 0; b.Loop(); round++ {
		now := make([]float64, len(ways))
		for turn := range ways {
			i := (round + turn) % len(ways) // so that none always follows the same
			start := time.Now()
			if err := ways[i].do(fmt.Sprintf("%s-%03d", strings.ReplaceAll(ways[i].name, "/", "-"), round)); err != nil {
				b.Fatal(err)
			}
			now[i] = time.Since(start).Seconds()
		}
		for i := range ways {
			took[i], shares[i] = append(took[i], now[i]), append(shares[i], now[0]/now[i])
		}
	}
	for i, way := range ways {
		b.ReportMetric(n/median(took[i]), way.name+"_rows/s")
		b.ReportMetric(median(shares[i]), way.name+"_share")
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
