package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/duly-dev/duly"
)

// hinted is an error with advice on what to do next.
type hinted struct {
	error
	hint string
}

func (e hinted) Unwrap() error { return e.error }

func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return hinted{err, fmt.Sprintf(format, args...)}
}

// complain says what is wrong and what to do next.
func (inv *invocation) complain(cmd *cobra.Command, err error) {
	if err.Error() == "" {
		return
	}
	fmt.Fprintf(inv.err, "duly: %s\n", strings.TrimSpace(err.Error()))
	for _, line := range advice(cmd, err) {
		fmt.Fprintf(inv.err, "  %s\n", line)
	}
}

func advice(cmd *cobra.Command, err error) []string {
	var lines []string
	var h hinted
	for rest := err; errors.As(rest, &h); rest = h.error {
		lines = append(lines, strings.Split(h.hint, "\n")...)
	}
	if len(lines) > 0 {
		return lines
	}
	if errors.As(err, new(usageError)) {
		return []string{"see: " + cmd.CommandPath() + " --help"}
	}
	switch duly.CodeOf(err) {
	case duly.CodeUnavailable:
		return []string{"see that the store or the server is up, then try again"}
	case duly.CodeUncertain:
		return []string{"find out what happened before anything is repeated"}
	}
	return nil
}
