package cli

import (
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
)

// newLogger makes the log of a server, on stderr: for reading on a terminal,
// JSON for whatever else collects it.
func (inv *invocation) newLogger(form string, debug bool) (*slog.Logger, error) {
	level := slog.LevelInfo
	if debug {
		level = slog.LevelDebug
	}
	terminal := isTerminal(inv.err)
	if form == "" {
		form = "json"
		if terminal {
			form = "text"
		}
	}
	switch form {
	case "text":
		plain := !terminal || inv.getenv("NO_COLOR") != ""
		return slog.New(tint.NewTextHandler(inv.err, &tint.Options{Level: level, TimeFormat: time.TimeOnly, NoColor: plain})), nil
	case "json":
		return slog.New(slog.NewJSONHandler(inv.err, &slog.HandlerOptions{Level: level})), nil
	}
	return nil, usagef("--log is %q; it must be text or json", form)
}
