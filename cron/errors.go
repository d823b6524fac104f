package cron

import "fmt"

// Reason is the kind of a [ParseError], stable enough to be matched by
// programs and shown by an API.
type Reason string

// The reasons for which a timing or a zone is refused.
const (
	ReasonSyntax           Reason = "syntax"             // a character or form that means nothing
	ReasonNonASCII         Reason = "non_ascii"          // a look-alike such as an en dash or a full-width digit
	ReasonTooFewFields     Reason = "too_few_fields"     // fewer than five
	ReasonTooManyFields    Reason = "too_many_fields"    // more than seven
	ReasonEmptyItem        Reason = "empty_item"         // nothing between, before or after commas
	ReasonOutOfRange       Reason = "out_of_range"       // a number that the field does not have
	ReasonRangeReversed    Reason = "range_reversed"     // a-b with a after b
	ReasonStepZero         Reason = "step_zero"          // a step of nothing
	ReasonStepTooLarge     Reason = "step_too_large"     // a step longer than the field
	ReasonUnknownName      Reason = "unknown_name"       // not a month or weekday of this field
	ReasonBadModifier      Reason = "bad_modifier"       // L, W, # or ? where it cannot stand
	ReasonUnknownMacro     Reason = "unknown_macro"      // an @word that is not a cron expression
	ReasonImpossibleDate   Reason = "impossible_date"    // a date that never comes
	ReasonZoneInExpression Reason = "zone_in_expression" // TZ= or CRON_TZ=
	ReasonBadInterval      Reason = "bad_interval"       // from ParseEvery
	ReasonUnknownZone      Reason = "unknown_zone"       // from LoadZone
)

// ParseError says what is wrong with a text, where, and what to write
// instead.
type ParseError struct {
	Expr    string // the text as given
	Field   string // e.g. "day-of-month"; empty if it concerns the whole text
	Column  int    // of the offending part, in bytes from 1
	Reason  Reason
	Message string // one sentence for a person, with the way out
}

// Error names the text, field, column and reason.
func (e *ParseError) Error() string {
	field := e.Field
	if field == "" {
		field = "expression"
	}
	return fmt.Sprintf("%q: %s, column %d: %s (%s)", e.Expr, field, e.Column, e.Message, e.Reason)
}
