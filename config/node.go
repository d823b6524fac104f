package config

// node is a value of the file that knows where it stands. An alias is the very
// node that its anchor names, so a tree may share nodes but never holds a cycle.
type node struct {
	kind      nodeKind
	line, col int // of its first character, counted from 1 in characters

	text    string  // of a scalar, unquoted
	number  string  // of an integer or decimal, as JSON writes it
	entries []entry // of a mapping
	items   []*node // of a list

	// Of a text with placeholders: the text with their values, once resolved,
	// and those values, which nobody may see.
	resolved bool
	broken   bool // a placeholder has no value; that is reported already
	filled   string
	secrets  []string
}

// entry is a key of a mapping and its value.
type entry struct {
	name  string
	key   *node
	value *node
}

type nodeKind int

const (
	kindText nodeKind = iota
	kindInteger
	kindDecimal
	kindBool
	kindNull    // written out: null or ~
	kindNothing // a key without a value
	kindMapping
	kindList
	kindBad // reported already; nothing more is said about it
)

// String is how a message calls a value of this kind.
func (k nodeKind) String() string {
	switch k {
	case kindText:
		return "a text"
	case kindInteger, kindDecimal:
		return "a number"
	case kindBool:
		return "true or false"
	case kindNull, kindNothing:
		return "nothing"
	case kindMapping:
		return "a mapping"
	case kindList:
		return "a list"
	}
	return "unknown"
}

func (n *node) isScalar() bool { return n.kind < kindMapping }

// get returns the entry of a mapping by name, nil if there is none.
func (n *node) get(name string) *entry {
	if n == nil || n.kind != kindMapping {
		return nil
	}
	for i := range n.entries {
		if n.entries[i].name == name {
			return &n.entries[i]
		}
	}
	return nil
}
