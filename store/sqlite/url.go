package sqlite

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// config is what a store's URL says.
type config struct {
	path        string
	synchronous string
	busy        time.Duration
	poll        time.Duration
	maxPages    int64
}

// parse reads sqlite:PATH?name=value&…:
//
//	synchronous     full (default: an acknowledged write survives power loss),
//	                normal (it survives a crash of the process, and the file stays sound),
//	                off (for tests: a crash of the machine may damage the file)
//	busy_timeout    how long to wait for another process (default 5s)
//	poll            how often to look for changes by other processes while
//	                somebody watches (default 25ms; 0: never); an eighth as
//	                often while no other process writes
//	max_page_count  bound on the file's size, in pages of 4 KiB (default none)
func parse(raw string) (config, error) {
	cfg := config{synchronous: "full", busy: 5 * time.Second, poll: 25 * time.Millisecond}
	rest, ok := strings.CutPrefix(raw, "sqlite:")
	if !ok {
		return cfg, duly.Invalid("store", "%q is not a sqlite: URL", raw)
	}
	path, query, _ := strings.Cut(rest, "?")
	path = strings.TrimPrefix(path, "//") // sqlite://duly.db, sqlite:///var/lib/duly.db
	if path == "" || strings.HasPrefix(path, ":memory:") {
		return cfg, duly.Invalid("store", "%q names no file; write sqlite:duly.db or sqlite:/var/lib/duly/duly.db", raw)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return cfg, duly.Invalid("store", "%q: %v", raw, err)
	}
	cfg.path = abs
	values, err := url.ParseQuery(query)
	if err != nil {
		return cfg, duly.Invalid("store", "%q: %v", raw, err)
	}
	for name, v := range values {
		if err := cfg.set(name, v[len(v)-1]); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func (cfg *config) set(name, value string) error {
	switch name {
	case "synchronous":
		if value != "full" && value != "normal" && value != "off" {
			return duly.Invalid("store", "synchronous is %q; it must be full, normal or off", value)
		}
		cfg.synchronous = value
	case "busy_timeout", "poll":
		d, err := duly.ParseDuration(value)
		if value == "0" {
			d, err = 0, nil
		}
		if err != nil {
			return duly.Invalid("store", "%s: %v", name, err)
		}
		if name == "poll" {
			cfg.poll = d.Std()
		} else {
			cfg.busy = d.Std()
		}
	case "max_page_count":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 {
			return duly.Invalid("store", "max_page_count is %q; it must be a positive number", value)
		}
		cfg.maxPages = n
	default:
		return duly.Invalid("store", "has no parameter %q; there are synchronous, busy_timeout, poll and max_page_count", name)
	}
	return nil
}

// dsn is the driver's name for the file. mode is SQLite's: rwc, rw or ro.
func (cfg *config) dsn(mode string, queryOnly bool) string {
	path := filepath.ToSlash(cfg.path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	q := url.Values{"mode": {mode}, "_dqs": {"0"}, "_busy_timeout": {strconv.FormatInt(cfg.busy.Milliseconds(), 10)}}
	// Spilling a page of an open transaction to the file costs a sync; the
	// cache is bounded by what a batch touches anyway.
	q["_pragma"] = []string{"cache_size(-32768)", "cache_spill(0)", "temp_store(memory)", "journal_size_limit(67108864)", "synchronous(" + cfg.synchronous + ")"}
	if cfg.maxPages > 0 {
		q["_pragma"] = append(q["_pragma"], "max_page_count("+strconv.FormatInt(cfg.maxPages, 10)+")")
	}
	if queryOnly {
		q.Set("_query_only", "1")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}
