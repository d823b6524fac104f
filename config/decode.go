package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// maxWork bounds what a file may unfold into, in values and sixteenths of
// their bytes: some times what the largest file holds when written out.
const maxWork = 2_000_000

// decoder checks a tree against its shape and turns it into what encoding/json
// makes definitions of.
type decoder struct {
	*source
	fill   filler
	faulty map[*node]bool // what is wrong with these is said already
	work   int
}

// refuse notes a fault at a node and keeps later checks silent about it.
func (d *decoder) refuse(n *node, format string, args ...any) {
	d.faulty[n] = true
	d.fault(n, format, args...)
}

// spread marks what holds a node at fault as at fault itself.
func (d *decoder) spread(holder, n *node) {
	if d.faulty[n] {
		d.faulty[holder] = true
	}
}

// spend counts a value and reports whether the file is still within bounds.
func (d *decoder) spend(n *node) bool {
	before := d.work
	d.work += 1 + len(n.text)/16 + len(n.filled)/16
	if d.work > maxWork && before <= maxWork {
		d.fault(n, "the aliases, defaults and placeholders of this file unfold into more than can be meant")
	}
	return d.work <= maxWork
}

// value decodes what stands under a key; ok is false where it is at fault or
// absent. The result is for json.Marshal.
func (d *decoder) value(n *node, f *field) (v any, ok bool) {
	if n.kind == kindBad || !d.spend(n) {
		d.faulty[n] = true
		return nil, false
	}
	if f.kind == shapeAny {
		return d.any(n)
	}
	switch n.kind {
	case kindNull:
		return nil, false // said to be absent
	case kindNothing:
		d.refuse(n, "%s has no value; remove the key, or give it one", f.name)
		return nil, false
	}
	switch f.kind {
	case shapeObject:
		return d.object(n, f)
	case shapeDict:
		return d.dict(n, f)
	case shapeList:
		return d.list(n, f)
	}
	return d.leaf(n, f)
}

func (d *decoder) object(n *node, f *field) (any, bool) {
	if n.kind != kindMapping {
		if f.doc.brief && n.kind == kindText {
			text, ok := d.text(n, f)
			return map[string]any{f.doc.short: text}, ok
		}
		d.refuse(n, "%s is %v; write a mapping%s", f.name, n.kind, longForm(f, n))
		return nil, false
	}
	m := make(map[string]any, len(n.entries))
	for _, e := range n.entries {
		known := f.field(e.name)
		if known == nil {
			d.unknownKey(n, e, f)
			continue
		}
		if v, ok := d.value(e.value, known); ok {
			m[e.name] = v
		}
		d.spread(n, e.value)
	}
	return m, true
}

// longForm shows how to write what somebody wrote in short.
func longForm(f *field, n *node) string {
	if f.doc.short == "" || !n.isScalar() {
		return ""
	}
	value := n.text
	if n.kind == kindText && !plainWord.MatchString(n.text) {
		value = strconv.Quote(n.text)
	}
	switch f.doc.short {
	case "command":
		value = wordList(n.text)
	case "dates":
		value = "[" + n.text + "]"
	}
	return fmt.Sprintf(": { %s: %s }", f.doc.short, value)
}

var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// wordList shows a command line as the list that it was meant to be.
func wordList(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = strconv.Quote(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func (d *decoder) dict(n *node, f *field) (any, bool) {
	if n.kind != kindMapping {
		d.refuse(n, "%s is %v; write a mapping", f.name, n.kind)
		return nil, false
	}
	m := make(map[string]any, len(n.entries))
	for _, e := range n.entries {
		item := &field{name: e.name, shape: f.elem}
		if v, ok := d.value(e.value, item); ok {
			m[e.name] = v
		}
		d.spread(n, e.value)
	}
	return m, true
}

func (d *decoder) list(n *node, f *field) (any, bool) {
	items := n.items
	if n.kind != kindList {
		switch {
		case f.doc.single && n.isScalar():
			items = []*node{n}
		case f.name == "command" && n.kind == kindText:
			d.refuse(n, "command is a text; no shell splits it, so write the program and its arguments as a list: %s, or [\"sh\", \"-c\", %q] where a shell is needed", wordList(n.text), n.text)
			return nil, false
		case n.isScalar() && f.elem.kind != shapeObject:
			d.refuse(n, "%s is %v; write a list: [%s]", f.name, n.kind, n.text)
			return nil, false
		default:
			d.refuse(n, "%s is %v; write a list", f.name, n.kind)
			return nil, false
		}
	}
	all := make([]any, 0, len(items))
	for i, item := range items {
		of := &field{name: fmt.Sprintf("%s[%d]", f.name, i), doc: f.doc, shape: f.elem}
		if item.kind == kindNull || item.kind == kindNothing {
			d.refuse(item, "%s has no value; remove it, or give it one", of.name)
			continue
		}
		if v, ok := d.value(item, of); ok {
			all = append(all, v)
		}
		d.spread(n, item)
	}
	return all, true
}

// leaf decodes a single value.
func (d *decoder) leaf(n *node, f *field) (any, bool) {
	if !n.isScalar() {
		d.refuse(n, "%s is %v; write %s", f.name, n.kind, f.wants())
		return nil, false
	}
	switch f.kind {
	case shapeInteger:
		return d.integer(n, f)
	case shapeBool:
		return d.boolean(n, f)
	case shapeDuration:
		return d.duration(n, f)
	case shapeTime:
		return d.time(n, f)
	}
	return d.text(n, f)
}

// wants is what a message asks for.
func (f *field) wants() string {
	switch f.kind {
	case shapeInteger:
		return "a whole number"
	case shapeBool:
		return "true or false"
	case shapeDuration:
		return "a duration, such as 30s, 15m, 2h, 7d"
	case shapeTime:
		return "an instant in RFC 3339, such as 2026-11-28T09:00:00Z"
	}
	return "a text"
}

func (d *decoder) text(n *node, f *field) (any, bool) {
	if n.kind != kindText {
		d.refuse(n, "%s is %v where a text belongs; put it in quotes: %q", f.name, n.kind, n.text)
		return nil, false
	}
	text, ok := d.filled(n)
	if !ok {
		return nil, false
	}
	if text == "" && f.doc.zero != "" {
		d.refuse(n, "%s %s", f.name, f.doc.zero)
		return nil, false
	}
	if len(f.doc.enum) > 0 && !slices.Contains(f.doc.enum, text) {
		d.refuse(n, "%s is %q; it must be one of %s%s", f.name, n.text, strings.Join(f.doc.enum, ", "), suggest(n.text, f.doc.enum))
		return nil, false
	}
	if f.doc.date {
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			d.refuse(n, "%s is %q, which is not a date: write YYYY-MM-DD", f.name, n.text)
			return nil, false
		}
	}
	return text, true
}

func (d *decoder) integer(n *node, f *field) (any, bool) {
	digits := n.number
	if n.kind == kindText {
		text, ok := d.filled(n)
		if !ok {
			return nil, false
		}
		if len(n.secrets) == 0 {
			d.refuse(n, "%s is the text %q; write %s, without quotes", f.name, n.text, f.wants())
			return nil, false
		}
		digits = strings.TrimSpace(text)
	}
	i, err := strconv.Atoi(digits)
	if err != nil {
		size := ""
		if n.kind == kindInteger {
			size = " of a reasonable size"
		}
		d.refuse(n, "%s is %s; write %s%s", f.name, n.text, f.wants(), size)
		return nil, false
	}
	if i == 0 && f.doc.zero != "" {
		d.refuse(n, "%s is 0, which %s", f.name, f.doc.zero)
		return nil, false
	}
	return i, true
}

func (d *decoder) boolean(n *node, f *field) (any, bool) {
	text := n.text
	if n.kind == kindText {
		filled, ok := d.filled(n)
		if !ok {
			return nil, false
		}
		if len(n.secrets) > 0 {
			text = filled
		}
	}
	b, err := strconv.ParseBool(strings.ToLower(text))
	if err != nil || len(text) == 1 || n.kind == kindText && len(n.secrets) == 0 {
		d.refuse(n, "%s is %q; write true or false, without quotes", f.name, n.text)
		return nil, false
	}
	return b, true
}

func (d *decoder) duration(n *node, f *field) (any, bool) {
	if n.kind == kindInteger || n.kind == kindDecimal {
		d.refuse(n, "%s is %s, without a unit; write %[2]ss for seconds, or ms, m, h, d, w", f.name, n.text)
		return nil, false
	}
	text, ok := d.filled(n)
	if !ok {
		return nil, false
	}
	v, err := duly.ParseDuration(text)
	if err != nil {
		d.refuse(n, "%s is %q; write %s", f.name, n.text, f.wants())
		return nil, false
	}
	if v == 0 && f.doc.zero != "" {
		d.refuse(n, "%s is %s, which %s", f.name, n.text, f.doc.zero)
		return nil, false
	}
	return v, true
}

func (d *decoder) time(n *node, f *field) (any, bool) {
	text, ok := d.filled(n)
	if !ok {
		return nil, false
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.refuse(n, "%s is %q; write %s", f.name, n.text, f.wants())
		return nil, false
	}
	return t.Format(time.RFC3339Nano), true
}

// any decodes what has no shape: a payload.
func (d *decoder) any(n *node) (any, bool) {
	if !d.spend(n) {
		return nil, false
	}
	switch n.kind {
	case kindMapping:
		m := make(map[string]any, len(n.entries))
		for _, e := range n.entries {
			if v, ok := d.any(e.value); ok {
				m[e.name] = v
			}
			d.spread(n, e.value)
		}
		return m, true
	case kindList:
		all := make([]any, 0, len(n.items))
		for _, item := range n.items {
			if v, ok := d.any(item); ok {
				all = append(all, v)
			}
			d.spread(n, item)
		}
		return all, true
	case kindInteger, kindDecimal:
		return json.Number(n.number), true
	case kindBool:
		return strings.EqualFold(n.text, "true"), true
	case kindNull, kindNothing:
		return nil, true
	case kindText:
		text, ok := d.filled(n)
		return text, ok
	}
	d.faulty[n] = true
	return nil, false
}
