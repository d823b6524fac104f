package convert

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// names gives out IDs, each once. The first that asks for one gets it, so a
// line that is added at the end never renames an earlier one.
type names struct{ taken map[string]bool }

func newNames() *names { return &names{map[string]bool{}} }

// choose takes the first candidate that is free, or else numbers the last.
func (n *names) choose(candidates []string) string {
	for _, id := range candidates {
		if id != "" && !n.taken[id] {
			n.taken[id] = true
			return id
		}
	}
	last := candidates[len(candidates)-1]
	for i := 2; ; i++ {
		if id := fmt.Sprintf("%s-%d", last, i); !n.taken[id] {
			n.taken[id] = true
			return id
		}
	}
}

// candidates are the names for an entry, the plainest first: a short comment,
// the program, the program with its arguments, the same with the user, and at
// last with a digest of the line, which no other line has.
func candidates(description, text string, e *entry) []string {
	d := telling(text)
	var list []string
	if isShort(description) {
		list = append(list, slug(description))
	}
	if d.program != "" {
		if d.script {
			list = append(list, slug(d.program))
		}
		list = append(list, slug(strings.Join(append([]string{d.program}, d.arguments[:min(1, len(d.arguments))]...), "-")))
		list = append(list, slug(strings.Join(append([]string{d.program}, d.arguments...), "-")))
	}
	list = slices.DeleteFunc(list, func(name string) bool { return name == "" })
	base := "entry"
	if len(list) > 0 {
		base = list[0]
	}
	if e.user != "" {
		list = append(list, slug(base+"-"+e.user))
	}
	line := []string{e.macro, e.user, e.text.text}
	for _, w := range e.words {
		line = append(line, w.text)
	}
	sum := sha256.Sum256([]byte(strings.Join(line, " ")))
	return append(list, base+"-"+hex.EncodeToString(sum[:3]))
}

// isShort reports whether a comment is a name rather than an explanation.
func isShort(comment string) bool {
	return len(comment) <= 40 && len(strings.Fields(comment)) <= 5 && strings.IndexFunc(comment, func(r rune) bool { return r > '~' }) < 0
}

const maxSlug = 60

var notSlug = regexp.MustCompile(`[^a-z0-9_]+`)

// slug makes a text fit for an ID.
func slug(text string) string {
	s := strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-_")
	if len(s) > maxSlug {
		s = strings.TrimRight(s[:maxSlug], "-_")
	}
	return s
}
