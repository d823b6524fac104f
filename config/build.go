package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/duly-dev/duly/internal/nesting"
)

// maxMerged bounds how many entries merge keys may copy.
const maxMerged = 1_000_000

// builder turns the parser's tree into nodes.
type builder struct {
	*source
	anchors map[string]*node // nil while its value is being built
	merged  int
}

func (b *builder) build(n ast.Node, depth int) *node {
	if n == nil {
		return &node{kind: kindNothing, line: 1, col: 1}
	}
	at := b.place(n)
	if depth > nesting.Max {
		b.fault(at, "is nested more than %d levels deep", nesting.Max)
		at.kind = kindBad
		return at
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		return b.anchor(n, depth)
	case *ast.AliasNode:
		return b.alias(n, at)
	case *ast.TagNode:
		return b.tag(n, at, depth)
	case *ast.MappingNode:
		return b.mapping(n.Values, at, depth)
	case *ast.MappingValueNode:
		return b.mapping([]*ast.MappingValueNode{n}, at, depth)
	case *ast.SequenceNode:
		at.kind = kindList
		for _, item := range n.Values {
			at.items = append(at.items, b.build(item, depth+1))
		}
		return at
	}
	return b.scalar(n, at)
}

// place makes a node where the parser's node begins. A block mapping begins at
// its first key, not at that key's colon.
func (b *builder) place(n ast.Node) *node {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return b.place(m.Values[0])
		}
	case *ast.MappingValueNode:
		if m.Key != nil {
			return b.place(m.Key)
		}
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return &node{line: 1, col: 1}
	}
	return &node{line: max(1, tk.Position.Line), col: max(1, tk.Position.Column)}
}

func (b *builder) bad(at *node, format string, args ...any) *node {
	b.fault(at, format, args...)
	at.kind = kindBad
	return at
}

func (b *builder) anchor(n *ast.AnchorNode, depth int) *node {
	name := ""
	if n.Name != nil && n.Name.GetToken() != nil {
		name = n.Name.GetToken().Value
	}
	b.anchors[name] = nil
	value := b.build(n.Value, depth+1)
	b.anchors[name] = value
	return value
}

func (b *builder) alias(n *ast.AliasNode, at *node) *node {
	name := ""
	if n.Value != nil && n.Value.GetToken() != nil {
		name = n.Value.GetToken().Value
	}
	value, known := b.anchors[name]
	switch {
	case !known:
		return b.bad(at, "no anchor &%s comes before this alias; a text that begins with '*' needs quotes%s",
			name, suggest(name, keys(b.anchors)))
	case value == nil:
		return b.bad(at, "the alias *%s lies within what it stands for", name)
	}
	return value
}

// tag accepts !!str, which makes a text of what looks like something else.
func (b *builder) tag(n *ast.TagNode, at *node, depth int) *node {
	name := ""
	if n.Start != nil {
		name = strings.TrimSpace(n.Start.Value)
	}
	value := b.build(n.Value, depth+1)
	if value.kind == kindBad {
		return value
	}
	if name != "!!str" || !value.isScalar() {
		return b.bad(at, "the tag %s has no meaning here; remove it", name)
	}
	value.kind, value.number = kindText, ""
	return value
}

func (b *builder) mapping(values []*ast.MappingValueNode, at *node, depth int) *node {
	at.kind = kindMapping
	places := make(map[string]*node, len(values))
	var merges []*node
	for _, v := range values {
		if v.Key == nil || v.Value == nil {
			continue
		}
		if v.Key.IsMergeKey() {
			merges = append(merges, b.build(v.Value, depth+1))
			continue
		}
		key, ok := b.key(v.Key)
		value := b.build(v.Value, depth+1)
		if value.kind == kindNothing {
			value.line, value.col, value.text = key.line, key.col, key.text // what to point at
		}
		if !ok {
			continue
		}
		if first, twice := places[key.text]; twice {
			b.fault(key, "%q is set twice; the first is on line %d", key.text, first.line)
			continue
		}
		places[key.text] = key
		at.entries = append(at.entries, entry{name: key.text, key: key, value: value})
	}
	for _, m := range merges {
		b.merge(at, m, places)
	}
	return at
}

// merge adds the entries of a merge key (<<: *base) that a mapping does not
// have itself; of several bases the first wins.
func (b *builder) merge(into, from *node, places map[string]*node) {
	switch from.kind {
	case kindBad:
	case kindList:
		for _, item := range from.items {
			if item.kind == kindList {
				b.fault(item, "<<: wants mappings, not a list within its list")
				continue
			}
			b.merge(into, item, places)
		}
	case kindMapping:
		for _, e := range from.entries {
			if places[e.name] != nil {
				continue
			}
			if b.merged++; b.merged > maxMerged {
				b.fault(into, "the merge keys of this file unfold into more than %d entries", maxMerged)
				return
			}
			places[e.name] = e.key
			into.entries = append(into.entries, e)
		}
	default:
		b.fault(from, "<<: wants a mapping or a list of mappings, not %v", from.kind)
	}
}

func (b *builder) key(k ast.MapKeyNode) (*node, bool) {
	var n ast.Node = k
	if q, ok := n.(*ast.MappingKeyNode); ok && q.Value != nil {
		n = q.Value
	}
	key := b.build(n, 0)
	switch key.kind {
	case kindBad:
		return key, false
	case kindText:
	case kindMapping, kindList, kindNothing:
		b.fault(key, "a key is a single word, not %v", key.kind)
		return key, false
	default:
		b.fault(key, "the key %s would be read as %v; put it in quotes: %q", key.text, key.kind, key.text)
		return key, false
	}
	return key, true
}

func (b *builder) scalar(n ast.Node, at *node) *node {
	tk := n.GetToken()
	if tk == nil {
		at.kind = kindNothing
		return at
	}
	switch n := n.(type) {
	case *ast.LiteralNode:
		if n.Value != nil {
			at.text = n.Value.Value
		}
	case *ast.StringNode:
		at.text = n.Value
	case *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode, *ast.MergeKeyNode:
		at.text = tk.Value
	default:
		return b.bad(at, "cannot be read: unexpected %s", strings.ToLower(fmt.Sprint(n.Type())))
	}
	if !utf8.ValidString(at.text) {
		return b.bad(at, "has an escape that is not a character")
	}
	switch tk.Type {
	case token.ImplicitNullType:
		at.kind, at.text = kindNothing, ""
	case token.SingleQuoteType, token.DoubleQuoteType, token.LiteralType, token.FoldedType:
		at.kind = kindText
	default:
		at.kind, at.number = resolve(at.text)
		if at.kind == kindBad {
			return b.bad(at, "%s is read differently by different programs; put it in quotes if it is a text, or write a plain decimal number", at.text)
		}
	}
	return at
}
