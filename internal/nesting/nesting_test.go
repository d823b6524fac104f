package nesting

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
)

func TestWhatNestsWithinALineIsBounded(t *testing.T) {
	for _, c := range []struct {
		name, text string
		exceeded   bool
	}{
		{"nothing", "", false},
		{"brackets", strings.Repeat("[", Max) + strings.Repeat("]", Max), false},
		{"too many brackets", strings.Repeat("[", Max+1), true},
		{"too many braces", "a: " + strings.Repeat("{a: ", Max+1), true},
		{"brackets that close", strings.Repeat("[], ", 10*Max), false},
		{"dashes", strings.Repeat("- ", Max) + "a", false},
		{"too many dashes", strings.Repeat("- ", Max+1) + "a", true},
		{"a dash a line", strings.Repeat("- a\n", 10*Max), false},
	} {
		if got := Exceeded(lexer.Tokenize(c.text)); (got != nil) != c.exceeded {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
