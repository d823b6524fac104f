// Package nesting refuses YAML that nests too deep before a parser sees it:
// the parser calls itself once a level, and its time grows with their square.
package nesting

import "github.com/goccy/go-yaml/token"

// Max is how many levels a document may have.
const Max = 64

// Exceeded returns the token that nests too deep, nil where none does. Only
// what can nest within a line is counted: an indented block needs a line, and
// more of it, a level. Who walks the tree counts those.
func Exceeded(tokens token.Tokens) *token.Token {
	flow, chain := 0, 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
			chain = 0
		case token.SequenceEndType, token.MappingEndType:
			flow--
			chain = 0
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			chain++
			if tk.Prev == nil || tk.Prev.Position.Line != tk.Position.Line {
				chain = 1
			}
		}
		if flow > Max || chain > Max {
			return tk
		}
	}
	return nil
}
