package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/bench"
	"github.com/duly-dev/duly/store"
)

// benchStores makes empty stores of the kind and at the place that a store's
// URL names, which itself is left alone. cleanUp removes them.
func benchStores(ctx context.Context, raw string, opt *bench.Options) (cleanUp func(), err error) {
	switch scheme, rest, _ := strings.Cut(raw, ":"); scheme {
	case "sqlite":
		return benchFiles(rest, opt)
	case "postgres", "postgresql":
		return benchSchemas(ctx, raw, opt)
	}
	return nil, duly.Invalid("store", "%q cannot be measured; write sqlite:FILE or postgres://…", visibleURL(raw))
}

func benchFiles(rest string, opt *bench.Options) (cleanUp func(), err error) {
	path, query, found := strings.Cut(rest, "?")
	if found {
		query = "?" + query
	}
	dir, err := os.MkdirTemp(filepath.Dir(strings.TrimPrefix(path, "//")), ".duly-bench-")
	if err != nil {
		return nil, fmt.Errorf("a folder for the files to measure: %w", err)
	}
	made := 0
	opt.StoreName = "sqlite"
	opt.Fresh = func(ctx context.Context) (store.Store, string, error) {
		made++
		u := fmt.Sprintf("sqlite:%s%s", filepath.Join(dir, fmt.Sprintf("%d.db", made)), query)
		st, err := store.Open(ctx, u, store.Options{})
		return st, u, err
	}
	return func() { _ = os.RemoveAll(dir) }, nil
}

func benchSchemas(ctx context.Context, raw string, opt *bench.Options) (cleanUp func(), err error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, duly.Invalid("store", "%q is no URL", visibleURL(raw))
	}
	plain := *u
	query := plain.Query()
	for _, ours := range []string{"schema", "pgbouncer", "listen_url"} {
		query.Del(ours)
	}
	plain.RawQuery = query.Encode()
	conn, err := pgx.Connect(ctx, plain.String())
	if err != nil {
		return nil, duly.Errorf(duly.CodeUnavailable, "%s: %w", visibleURL(raw), err)
	}
	name := "duly_bench_" + strings.ToLower(rand.Text()[:8])
	if err := commitRate(ctx, conn, name, opt); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	var schemas []string
	opt.StoreName = "postgres"
	opt.Fresh = func(ctx context.Context) (store.Store, string, error) {
		schema := fmt.Sprintf("%s_%d", name, len(schemas))
		schemas = append(schemas, schema)
		fresh := *u
		q := fresh.Query()
		q.Set("schema", schema)
		fresh.RawQuery = q.Encode()
		st, err := store.Open(ctx, fresh.String(), store.Options{})
		return st, fresh.String(), err
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for _, s := range schemas {
			_, _ = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{s}.Sanitize()+" CASCADE")
		}
		_ = conn.Close(ctx)
	}, nil
}

// commitRate measures what the server itself can do: one small durable commit
// after another.
func commitRate(ctx context.Context, conn *pgx.Conn, name string, opt *bench.Options) error {
	table := pgx.Identifier{name}.Sanitize()
	if _, err := conn.Exec(ctx, "CREATE TABLE "+table+" (n bigint)"); err != nil {
		return fmt.Errorf("a table to measure commits with: %w", err)
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "DROP TABLE "+table) }()
	const span = 2 * time.Second
	commits, start := 0, time.Now()
	for time.Since(start) < span {
		if _, err := conn.Exec(ctx, "INSERT INTO "+table+" VALUES ($1)", commits); err != nil {
			return err
		}
		commits++
	}
	opt.Report(bench.Figure{
		Figure: "server_commits_per_s", Store: "postgres", Value: float64(commits) / time.Since(start).Seconds(), Unit: "1/s",
		Note: "the server's own limit: one small durable commit after another on one connection",
	})
	return nil
}
