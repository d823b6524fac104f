// Interop has effects with the Go package, for the tests of the Node.js client:
// what one of them has made, the other must find.
//
//	interop DIALECT DSN COMMAND
//
// Commands are JSON objects on standard input, one a line; each is answered by
// one line.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/fence"
	"github.com/duly-dev/duly/internal/sqldb"
)

type command struct {
	Do         string          `json:"do"` // migrate, once, batch, external, fence, name, get
	Key        string          `json:"key"`
	Keys       []string        `json:"keys"`
	Result     json.RawMessage `json:"result"`
	Occurrence string          `json:"occurrence"`
	Attempt    int             `json:"attempt"`
	Token      int64           `json:"token"`
	Resource   string          `json:"resource"`
	Fail       string          `json:"fail"`
}

type answer struct {
	Result         json.RawMessage `json:"result,omitempty"`
	Reused         bool            `json:"reused"`
	Reuses         []bool          `json:"reuses,omitempty"`
	Code           duly.Code       `json:"code,omitempty"`
	Error          string          `json:"error,omitempty"`
	Column         string          `json:"column,omitempty"`
	Whole          any             `json:"whole,omitempty"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"`
	Entry          *effect.Entry   `json:"entry,omitempty"`
}

func main() {
	dialect, err := effect.ParseDialect(os.Args[1])
	if err != nil {
		fatal(err)
	}
	db, err := sql.Open(map[effect.Dialect]string{effect.SQLite: "sqlite", effect.Postgres: "pgx", effect.MySQL: "mysql"}[dialect], os.Args[2])
	if err != nil {
		fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fatal(err)
		}
		a, err := obey(c, dialect, db)
		if err != nil {
			a.Code, a.Error = duly.CodeOf(err), err.Error()
		}
		if err := out.Encode(a); err != nil {
			fatal(err)
		}
	}
}

func obey(c command, dialect effect.Dialect, db *sql.DB) (a answer, err error) {
	ctx := effect.Unowned(context.Background())
	if c.Resource != "" {
		ctx = duly.WithGrant(ctx, duly.Grant{Occurrence: c.Occurrence, Attempt: c.Attempt, Token: c.Token, Resource: c.Resource})
	}
	ledger := dialect.DB(db)
	switch c.Do {
	case "migrate":
		err = effect.Migrate(ctx, ledger)
	case "once":
		a.Result, a.Reused, err = effect.Do(ctx, ledger, c.Key, func(context.Context, *sql.Tx) (json.RawMessage, error) {
			if c.Fail != "" {
				return nil, errors.New(c.Fail)
			}
			return c.Result, nil
		})
	case "batch":
		_, a.Reuses, err = effect.DoBatch(ctx, ledger, 0, c.Keys, func(key string) string { return key },
			func(_ context.Context, _ *sql.Tx, missing []string) ([]string, error) {
				results := make([]string, len(missing))
				for i, key := range missing {
					results[i] = "batch of Go: " + key
				}
				return results, nil
			})
	case "external":
		a.Result, a.Reused, err = effect.External(ctx, ledger, c.Key, effect.Call[json.RawMessage]{
			Call: func(context.Context, string) (json.RawMessage, error) {
				if c.Fail != "" {
					return nil, errors.New(c.Fail)
				}
				return c.Result, nil
			},
		})
	case "fence":
		err = fence.SQL(ledger).Raise(ctx, c.Resource, c.Token)
	case "get":
		e, err := effect.Get(ctx, ledger, c.Key)
		a.Entry = &e
		return a, err
	case "name":
		a.Column, a.Whole = sqldb.KeyColumns(c.Key)
		a.IdempotencyKey = effect.IdempotencyKey(c.Key)
	default:
		err = fmt.Errorf("unknown command %q", c.Do)
	}
	return a, err
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
