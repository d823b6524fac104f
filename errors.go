package duly

import (
	"errors"
	"fmt"
)

// Code classifies an error so that every surface can answer it the same way:
// one table maps codes to HTTP statuses and one to exit codes.
type Code string

// The closed list of error codes.
const (
	CodeInvalid     Code = "invalid"     // the request cannot be meant; fix it and send it again
	CodeNotFound    Code = "not_found"   // the named thing does not exist
	CodeConflict    Code = "conflict"    // the thing exists, or changed meanwhile, or is in a state that forbids the step
	CodeNotHolder   Code = "not_holder"  // the caller does not hold this lease (any more)
	CodeStaleToken  Code = "stale_token" // a newer fencing token was granted; the caller lost its ownership
	CodeUnavailable Code = "unavailable" // the store cannot be reached or cannot write; trying again later is right
	CodeUncertain   Code = "uncertain"   // an outcome is unknown and must be reconciled, never repeated blindly
	CodeInternal    Code = "internal"    // a bug or an unknown fault
)

// Error is an error with a code. Message is for a person: what, where, and
// what to do. Field names the offending field of a request, in snake_case with
// dots ("retry.max_attempts"); it is empty where no single field is to blame.
type Error struct {
	Code    Code
	Field   string
	Message string
	Err     error // the cause for errors.Is and As, already part of Message; may be nil
}

func (e *Error) Error() string {
	msg := e.Message
	if e.Field != "" {
		msg = e.Field + ": " + msg
	}
	return msg
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error. A %w verb is kept as the cause for errors.Is and As.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Invalid makes a CodeInvalid error about one field.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first Error in err's chain, "" for nil and
// CodeInternal for anything else.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
