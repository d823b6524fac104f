package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/duly-dev/duly"
)

// The exit codes. They are promised to scripts: exitCodes says what they mean.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitInvalid     = 5
	exitUnavailable = 69 // EX_UNAVAILABLE
	exitTryAgain    = 75 // EX_TEMPFAIL
	exitUncertain   = 79
	exitInterrupted = 130
)

// exitCodes is the one table of what the codes mean, printed by `duly help
// exit-codes`.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "done; with trigger --wait, the occurrence succeeded"},
	{exitFailure, "it failed for a reason that no other code names; with trigger --wait, the occurrence did not succeed; with audit effects, ledger and history do not agree; with drill, a promise was broken"},
	{exitUsage, "the command line cannot be understood; with plan --exit-code, there are changes"},
	{exitNotFound, "the schedule, occurrence or file does not exist"},
	{exitConflict, "it exists already, changed meanwhile, or is in a state that forbids the step"},
	{exitInvalid, "a value cannot be meant: a cron expression, a zone, a file, a store that is none"},
	{exitUnavailable, "the store or the server cannot be reached; trying again later is right"},
	{exitTryAgain, "it has not come to an end yet; trying again later is right"},
	{exitUncertain, "an outcome outside is unknown; a person has to look before anything is repeated"},
	{exitInterrupted, "ended by an interrupt"},
}

// codeExits maps error codes to exit codes.
var codeExits = map[duly.Code]int{
	duly.CodeInvalid:     exitInvalid,
	duly.CodeNotFound:    exitNotFound,
	duly.CodeConflict:    exitConflict,
	duly.CodeNotHolder:   exitConflict,
	duly.CodeStaleToken:  exitConflict,
	duly.CodeUnavailable: exitUnavailable,
	duly.CodeUncertain:   exitUncertain,
	duly.CodeInternal:    exitFailure,
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// statusError ends with an exit code of its own. Its message may be empty:
// then everything has been said.
type statusError struct {
	code    int
	message string
}

func (e statusError) Error() string { return e.message }

func exitCode(err error) int {
	var status statusError
	if errors.As(err, &status) {
		return status.code
	}
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	if code, known := codeExits[duly.CodeOf(err)]; known {
		return code
	}
	return exitFailure
}

func isInterruption(err error) bool {
	return errors.Is(err, context.Canceled) || duly.CodeOf(err) == duly.CodeUnavailable
}

func exitCodesText() string {
	var b strings.Builder
	b.WriteString("Exit codes, which scripts may rely on:\n\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", e.code, e.meaning)
	}
	return b.String()
}
