package cli

import (
	"log/slog"
	"time"

	"github.com/lmittmann/tint"
)

// faultLog is the log of a server that only this command talks to. What it
// would tell its operator is for the person at the command line.
func (inv *invocation) faultLog() *slog.Logger {
	return slog.New(tint.NewTextHandler(inv.err, &tint.Options{Level: slog.LevelError, TimeFormat: time.TimeOnly, NoColor: !isTerminal(inv.err)}))
}

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
