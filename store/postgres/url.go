package postgres

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
)

// config is what a store's URL says.
type config struct {
	name      string // host and database, for messages; no secrets
	schema    string
	pooled    bool // a pooler in transaction mode is in between
	listenURL string
	maxConns  int32
	statement time.Duration
	poll      time.Duration
	pool      *pgxpool.Config
	listen    *pgx.ConnConfig
}

// parse reads postgres://USER:PASSWORD@HOST/DATABASE?name=value&…. What is not
// listed here is libpq's (sslmode, several hosts, connect_timeout …; the latter
// is 5 s by default).
//
//	schema             where the tables live (default duly)
//	pgbouncer          true behind a pooler in transaction mode: no prepared
//	                   statements, and nothing is left on a connection
//	listen_url         a URL that leads past the pooler, for LISTEN alone
//	max_conns          how many connections a process opens (default 8)
//	statement_timeout  when the server gives up on a statement (default 30s)
//	poll               how often watchers look where LISTEN does not work
//	                   (default 1s)
func parse(raw string) (cfg config, err error) {
	cfg = config{schema: "duly", maxConns: 8, statement: 30 * time.Second, poll: time.Second}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return cfg, duly.Invalid("store", "is not a postgres: URL; write postgres://user:password@host:5432/database")
	}
	values := u.Query()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		mine, err := cfg.set(name, values.Get(name))
		if err != nil {
			return cfg, err
		}
		if mine {
			values.Del(name)
		}
	}
	u.RawQuery = values.Encode()
	if cfg.pool, err = pgxpool.ParseConfig(u.String()); err != nil {
		return cfg, duly.Invalid("store", "cannot be read: %v", err)
	}
	cfg.pool.MaxConns = cfg.maxConns
	cfg.pool.MinConns = 0
	cfg.pool.MaxConnIdleTime = 5 * time.Minute
	// No round trip to ask whether a connection lives: see conn.stale.
	cfg.pool.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	cc := cfg.pool.ConnConfig
	cfg.name = cc.Host + "/" + cc.Database
	if len(cc.Fallbacks) > 0 && !values.Has("target_session_attrs") && strings.Contains(u.Host+values.Get("host"), ",") {
		values.Set("target_session_attrs", "read-write") // of several, only one writes
		u.RawQuery = values.Encode()
		again, err := pgxpool.ParseConfig(u.String())
		if err != nil {
			return cfg, duly.Invalid("store", "cannot be read: %v", err)
		}
		cc.ValidateConnect = again.ConnConfig.ValidateConnect
	}
	dialing(cc)
	cc.RuntimeParams["client_encoding"] = "UTF8" // whatever the role or the database says
	if cc.RuntimeParams["application_name"] == "" {
		cc.RuntimeParams["application_name"] = "duly"
	}
	if cfg.pooled {
		cc.DefaultQueryExecMode = pgx.QueryExecModeExec
		withoutCancels(cc)
	} else {
		maps.Copy(cc.RuntimeParams, cfg.settings())
	}
	return cfg, cfg.parseListen(u.String())
}

// planning is how plans are made: once, and as they know nothing of a table's
// size at that time, by the indexes always.
var planning = [...]struct{ name, value string }{
	{"plan_cache_mode", "force_generic_plan"}, {"jit", "off"}, {"enable_seqscan", "off"}, {"enable_hashjoin", "off"}, {"enable_mergejoin", "off"},
}

// settings are of every connection.
func (cfg *config) settings() map[string]string {
	ms := strconv.FormatInt(cfg.statement.Milliseconds(), 10)
	all := map[string]string{"statement_timeout": ms, "idle_in_transaction_session_timeout": ms}
	for _, s := range planning {
		all[s.name] = s.value
	}
	return all
}

// patience is how long to wait for an answer: longer than the server takes to
// give up on a statement and to say so.
func (cfg *config) patience() time.Duration { return cfg.statement + 5*time.Second }

func (cfg *config) parseListen(main string) (err error) {
	if cfg.listenURL == "" {
		cfg.listenURL = main
	}
	if cfg.listen, err = pgx.ParseConfig(cfg.listenURL); err != nil {
		return duly.Invalid("store", "listen_url cannot be read: %v", err)
	}
	dialing(cfg.listen)
	if cfg.listen.RuntimeParams["application_name"] == "" {
		cfg.listen.RuntimeParams["application_name"] = "duly listen"
	}
	return nil
}

// set takes a parameter, if it is one of ours.
func (cfg *config) set(name, value string) (mine bool, err error) {
	switch name {
	case "schema":
		cfg.schema = value
		if value == "" || len(value) > 63 {
			err = duly.Invalid("store", "schema is %q; it must have 1 to 63 bytes", value)
		}
	case "pgbouncer":
		cfg.pooled, err = strconv.ParseBool(value)
		if err != nil {
			err = duly.Invalid("store", "pgbouncer is %q; it must be true or false", value)
		}
	case "listen_url":
		cfg.listenURL = value
	case "max_conns":
		n, bad := strconv.ParseInt(value, 10, 32)
		if bad != nil || n < 2 {
			return true, duly.Invalid("store", "max_conns is %q; it must be 2 or more", value)
		}
		cfg.maxConns = int32(n)
	case "statement_timeout", "poll":
		d, bad := duly.ParseDuration(value)
		if bad != nil {
			return true, duly.Invalid("store", "%s: %v", name, bad)
		}
		if name == "poll" {
			cfg.poll = d.Std()
		} else {
			cfg.statement = d.Std()
		}
	default:
		return false, nil
	}
	return true, err
}
