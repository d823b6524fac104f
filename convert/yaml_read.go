package convert

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/duly-dev/duly/internal/nesting"
)

// node is a value of a YAML or JSON document that knows where it stands. A nil
// node is a value that is not there, and has neither text nor entries.
type node struct {
	place
	kind    nodeKind
	text    string // of a scalar
	quoted  bool
	entries []nodeEntry // of a mapping
	items   []*node     // of a list
}

type nodeKind int

const (
	kindScalar nodeKind = iota
	kindNull
	kindMapping
	kindList
)

func (k nodeKind) String() string {
	return [...]string{"a text", "nothing", "a mapping", "a list"}[k]
}

type nodeEntry struct {
	name  string
	key   *node
	value *node
}

// get returns the value of a key, and follows it through further ones.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		e := n.entry(key)
		if e == nil {
			return nil
		}
		n = e.value
	}
	return n
}

// entry returns a key with its value, unless that is null: to Kubernetes, it
// is not there.
func (n *node) entry(key string) *nodeEntry {
	if n == nil {
		return nil
	}
	for i := range n.entries {
		if e := &n.entries[i]; e.name == key && e.value.kind != kindNull {
			return e
		}
	}
	return nil
}

// string returns the text of a scalar, and "" for everything else.
func (n *node) string() string {
	if n == nil || n.kind != kindScalar {
		return ""
	}
	return n.text
}

// list returns the items of a list.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// document is one of a file's documents.
type document struct {
	place // of its first line
	text  string
}

// documents takes a file apart, so that a document that cannot be read leaves
// the others alone.
func documents(src Source) []document {
	text := strings.TrimPrefix(string(src.Data), "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	var docs []document
	var b strings.Builder
	start := 1
	for i, line := range strings.Split(text, "\n") {
		if line == "---" || strings.HasPrefix(line, "--- ") {
			docs = append(docs, document{place{src.Name, start, 1}, b.String()})
			b.Reset()
			line = strings.TrimSpace(line[3:])
			start = i + 1
		}
		b.WriteString(line + "\n")
	}
	return append(docs, document{place{src.Name, start, 1}, b.String()})
}

// templateHint says what to do about a template.
const templateHint = "is a template, not a manifest; render it first (helm template, kustomize build) and import the result"

// parse reads a document. It is nil where there is nothing in it.
func (d document) parse() (n *node, fault *Note) {
	wrong := func(p place, text string) (*node, *Note) {
		if strings.Contains(d.text, "{{") {
			text = templateHint
		}
		note := p.note(Wrong, "%s", text)
		return nil, &note
	}
	if !utf8.ValidString(d.text) {
		return wrong(d.place, "is not valid UTF-8; save the file as UTF-8")
	}
	defer func() {
		// A parser for a language as large as YAML is bound to have faults of
		// its own; a document that trips it is refused like any other.
		if r := recover(); r != nil {
			n, fault = wrong(d.place, fmt.Sprintf("the YAML parser gave up on this document (%v)", r))
		}
	}()
	tokens := lexer.Tokenize(d.text)
	if nesting.Exceeded(tokens) != nil {
		return wrong(d.place, "is nested too deep for a manifest")
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		p, message := d.place, "is not valid YAML"
		var e yaml.Error
		if errors.As(err, &e) {
			message = "cannot be read: " + e.GetMessage()
			if tk := e.GetToken(); tk != nil && tk.Position != nil {
				p = d.at(tk)
			}
		}
		return wrong(p, message)
	}
	b := nodeBuilder{document: d, anchors: map[string]*node{}}
	for _, doc := range file.Docs {
		if _, directive := doc.Body.(*ast.DirectiveNode); directive || doc.Body == nil {
			continue
		}
		n := b.build(doc.Body, 0)
		if b.fault != "" {
			return wrong(b.faultAt, b.fault)
		}
		return n, nil
	}
	return nil, nil
}

func (d document) at(tk *token.Token) place {
	return place{d.file, d.line + max(1, tk.Position.Line) - 1, max(1, tk.Position.Column)}
}

// nodeBuilder turns the parser's tree into nodes. Aliases share their anchor's
// node; manifests hardly have any, so merge keys are refused.
type nodeBuilder struct {
	document
	anchors map[string]*node
	fault   string
	faultAt place
}

func (b *nodeBuilder) build(n ast.Node, depth int) *node {
	at := &node{place: b.place, kind: kindNull}
	if n == nil || n.GetToken() == nil {
		return at
	}
	at.place = b.at(n.GetToken())
	if depth > nesting.Max {
		return b.refuse(at, "is nested too deep for a manifest")
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		value := b.build(n.Value, depth+1)
		b.anchors[n.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		if value, ok := b.anchors[n.Value.GetToken().Value]; ok {
			return value
		}
		return b.refuse(at, "the alias has no anchor before it")
	case *ast.TagNode:
		return b.build(n.Value, depth+1)
	case *ast.MappingNode:
		return b.mapping(at, n.Values, depth)
	case *ast.MappingValueNode:
		return b.mapping(at, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		at.kind = kindList
		for _, item := range n.Values {
			at.items = append(at.items, b.build(item, depth+1))
		}
		return at
	case *ast.NullNode:
		return at
	case *ast.LiteralNode:
		at.kind, at.text, at.quoted = kindScalar, n.Value.Value, true
		return at
	case *ast.StringNode:
		at.text = n.Value
		switch n.GetToken().Type {
		case token.SingleQuoteType, token.DoubleQuoteType:
			at.quoted = true
		}
	default:
		at.text = n.GetToken().Value
	}
	at.kind = kindScalar
	return at
}

func (b *nodeBuilder) mapping(at *node, values []*ast.MappingValueNode, depth int) *node {
	at.kind = kindMapping
	for i, v := range values {
		if v.Key == nil {
			continue
		}
		key := b.build(v.Key, depth+1)
		if i == 0 {
			at.place = key.place
		}
		if v.Key.IsMergeKey() {
			return b.refuse(key, "a merge key (<<) is not understood here; write the values out")
		}
		at.entries = append(at.entries, nodeEntry{name: key.text, key: key, value: b.build(v.Value, depth+1)})
	}
	return at
}

func (b *nodeBuilder) refuse(at *node, text string) *node {
	if b.fault == "" {
		b.fault, b.faultAt = text, at.place
	}
	return at
}
