package drill

import (
	"bytes"
	"context"
	"fmt"
	osexec "os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// tally says how often each effect has happened. keys is nil where only their
// number is known.
type tally struct {
	keys  map[string]int
	total int
}

// since is what came after another tally: effects, those of them that happened
// again, and those that are missing of what was expected.
func (t tally) since(before tally, expected int) (effects, repeated, missing int) {
	effects = t.total - before.total
	if t.keys == nil {
		return effects, max(0, effects-expected), max(0, expected-effects)
	}
	fresh := 0
	for key, n := range t.keys {
		was := before.keys[key]
		if was == 0 && n > 0 {
			fresh++
			repeated += n - 1
		} else {
			repeated += max(0, n-was)
		}
	}
	return effects, repeated, max(0, expected-fresh)
}

// repeatedKeys lists some keys whose effect happened again.
func (t tally) repeatedKeys(before tally, limit int) []string {
	var keys []string
	for key, n := range t.keys {
		if n > max(1, before.keys[key]) {
			keys = append(keys, key)
		}
	}
	return shortList(keys, limit)
}

// countLimit bounds one count.
const countLimit = 20 * time.Second

// count runs the user's own command.
func (j *Job) count(ctx context.Context) (tally, error) {
	ctx, cancel := context.WithTimeout(ctx, countLimit)
	defer cancel()
	cmd := osexec.CommandContext(ctx, "/bin/sh", "-c", j.Count)
	cmd.WaitDelay = time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return tally{}, duly.Invalid("count", "the command %q failed: %v\n%s", j.Count, err, strings.TrimSpace(errs.String()))
	}
	t, err := parseTally(out.String())
	if err != nil {
		return t, duly.Invalid("count", "the command %q printed what cannot be read: %v", j.Count, err)
	}
	return t, nil
}

// parseTally reads one number, or lines whose last column is a number. Columns
// end with '|', a tab, a comma, a semicolon or blanks, as psql, sqlite3, mysql
// and others print them.
func parseTally(text string) (tally, error) {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 1 {
		if n, err := strconv.Atoi(lines[0]); err == nil {
			return tally{total: n}, nil
		}
	}
	t := tally{keys: map[string]int{}}
	for _, line := range lines {
		cut := strings.LastIndexAny(line, "|\t,; ")
		if cut < 0 {
			return tally{}, fmt.Errorf("line %q has no key before its number; print one number alone, or key and number", line)
		}
		n, err := strconv.Atoi(strings.TrimSpace(line[cut+1:]))
		if err != nil {
			return tally{}, fmt.Errorf("line %q does not end with a number", line)
		}
		t.keys[strings.TrimRight(line[:cut], "|\t,; ")] += n
		t.total += n
	}
	return t, nil
}
