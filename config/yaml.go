package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"

	"github.com/duly-dev/duly/internal/nesting"
)

const maxFile = 8 << 20 // bytes of a file

// parseYAML reads the source's text into a tree. It returns nil where there is
// none, and has noted why.
func (s *source) parseYAML() *node {
	if !s.checkText() {
		return nil
	}
	file := s.syntaxTree()
	if file == nil {
		return nil
	}
	body := s.onlyDocument(file)
	if body == nil {
		return nil
	}
	b := &builder{source: s, anchors: map[string]*node{}}
	return b.build(body, 0)
}

// syntaxTree lets the YAML library read the text. A parser for a language as
// large as YAML is bound to have faults of its own; a file that trips it is
// refused like any other.
func (s *source) syntaxTree() (file *ast.File) {
	defer func() {
		if r := recover(); r != nil {
			file = nil
			s.faultAt(1, 1, 1, fmt.Sprintf("the YAML parser gave up on this file (%v); simplify what is unusual in it", r))
		}
	}()
	tokens := lexer.Tokenize(strings.Join(s.lines, "\n"))
	if tk := nesting.Exceeded(tokens); tk != nil {
		s.faultAt(tk.Position.Line, tk.Position.Column, 1, fmt.Sprintf("is nested more than %d levels deep", nesting.Max))
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		s.syntax(err)
		return nil
	}
	return file
}

// checkText refuses what no text file holds.
func (s *source) checkText() bool {
	for i, line := range s.lines {
		col := 1
		for j := 0; j < len(line); col++ {
			r, size := utf8.DecodeRuneInString(line[j:])
			if r == utf8.RuneError && size == 1 {
				s.faultAt(i+1, col, 1, "is not valid UTF-8; save the file as UTF-8")
				return false
			}
			if r < ' ' && r != '\t' {
				s.faultAt(i+1, col, 1, fmt.Sprintf("has the control character %U; remove it, or write it as an escape in double quotes", r))
				return false
			}
			j += size
		}
	}
	return true
}

// onlyDocument returns the body of the one document that a file may hold.
func (s *source) onlyDocument(file *ast.File) ast.Node {
	var body ast.Node
	started := false
	for _, doc := range file.Docs {
		if _, ok := doc.Body.(*ast.DirectiveNode); ok {
			continue
		}
		if started {
			at := &node{line: 1, col: 1}
			if doc.Start != nil {
				at.line, at.col = doc.Start.Position.Line, doc.Start.Position.Column
			}
			s.faultAt(at.line, at.col, 3, "a second document begins here; put everything under one schedules: key, or into a file of its own")
			return nil
		}
		started = true
		body = doc.Body
	}
	if body == nil {
		s.faultAt(1, 1, 1, "the file is empty; it needs schedules: (write schedules: {} for none)")
	}
	return body
}

// syntax notes the parser's error in words that say what to do.
func (s *source) syntax(err error) {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil || e.GetToken().Position == nil {
		// Never print err: it renders the whole file, in quadratic time.
		s.faultAt(1, 1, 1, "is not valid YAML")
		return
	}
	line, col := e.GetToken().Position.Line, e.GetToken().Position.Column
	text := s.line(line)
	if m := unquoted.FindStringSubmatchIndex(text); m != nil {
		value := strings.TrimSpace(text[m[4]:m[5]])
		col = utf8.RuneCountInString(text[:m[4]]) + 1
		s.faultAt(line, col, utf8.RuneCountInString(value), fmt.Sprintf(
			"a value cannot begin with %q unless it is quoted: %s: %q", value[:1], text[m[2]:m[3]], value))
		return
	}
	message := e.GetMessage()
	switch {
	case strings.Contains(message, "tab character"), strings.Contains(message, "character '\t'"):
		message = "a tab cannot indent YAML; use spaces"
	case strings.Contains(text, "${") && strings.ContainsAny(text, "{["):
		message = `cannot be read; inside { } and [ ] a placeholder needs quotes: "${env:NAME}"`
	case strings.Contains(message, "mapping value is not allowed") && indent(s.line(line+1)) > indent(text):
		line, col = line+1, indent(s.line(line+1))+1
		message = "is indented further than the line above it, to which it does not belong; align it with its neighbours"
	case strings.Contains(message, "mapping value is not allowed"):
		message = `a ':' is not allowed here; check the indentation, and put a text that contains ": " in quotes`
	default:
		message = "cannot be read: " + message
	}
	s.faultAt(line, col, 1, message)
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// unquoted finds a value that begins with a character that YAML reserves, as
// cron: * * * * * or cron: @daily do.
var unquoted = regexp.MustCompile("^[ -]*([A-Za-z_]+):[ ]+([*@%`].*)$")
