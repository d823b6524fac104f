package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/duly-dev/duly"
)

// YAML writes the schedules as a duly.yaml. Notes stand beside the schedule
// they concern, and at the head of the file where they concern none.
func (r *Result) YAML() []byte {
	w := &yamlWriter{notes: map[string][]Note{}}
	for _, n := range r.Notes {
		w.notes[n.Schedule] = append(w.notes[n.Schedule], n)
	}
	w.comment("Made by duly import " + r.origin + ". See what it does with: duly plan -f FILE --simulate 365d")
	w.head()
	if r.common != nil {
		w.defaults(r.common)
	}
	if len(r.Schedules) == 0 {
		w.line("schedules: {}")
		return w.Bytes()
	}
	w.line("schedules:")
	for i, s := range r.Schedules {
		if i > 0 {
			w.line("")
		}
		w.schedule(s, r.common)
	}
	return w.Bytes()
}

// head writes the notes that no schedule has.
func (w *yamlWriter) head() {
	if len(w.notes[""]) > 0 {
		w.comment("")
	}
	for _, n := range w.notes[""] {
		w.comment(n.String())
	}
	w.line("")
}

// defaults writes the policies that all schedules share, each with the words
// for those who want Duly's.
func (w *yamlWriter) defaults(common *duly.Schedule) {
	w.line("# What cron does with every line. Duly can do more, for all or for one schedule:")
	w.line("defaults:")
	w.line("  overlap: " + string(common.Overlap) + " # the next one starts beside an unfinished one; or wait, skip, combine, replace")
	w.line("  catch_up: { policy: " + string(common.CatchUp.Policy) + " } # what was missed is forgotten; or latest, all, combine")
	w.line(fmt.Sprintf("  retry: { max_attempts: %d } # a command that fails is not repeated", common.Retry.MaxAttempts))
	w.line("")
}

func (w *yamlWriter) schedule(s Schedule, common *duly.Schedule) {
	w.indent = 2
	defer func() { w.indent = 0 }()
	w.comment(fmt.Sprintf("%s:%d", s.File, s.Line))
	for _, n := range w.notes[s.ID] {
		if n.File == s.File && n.Line == s.Line {
			w.comment(fmt.Sprintf("%s: %s", n.Kind, n.Message))
		} else {
			w.comment(n.String())
		}
	}
	for _, line := range s.Advice {
		w.comment(line)
	}
	def := s.Schedule
	if common != nil {
		def.Overlap, def.CatchUp, def.Retry = "", duly.CatchUp{}, duly.Retry{}
	}
	def.ID = ""
	v := ordered(def)
	if def.Target == (duly.Target{}) {
		v.remove("target")
	}
	if len(v.keys) == 0 {
		w.line(scalar(s.ID) + ": {}")
		return
	}
	w.line(scalar(s.ID) + ":")
	w.indent = 4
	w.mapping(v)
}

// value is JSON that keeps the order of its keys.
type value struct {
	scalar any // nil, bool, json.Number or string
	keys   []string
	values []value // of the keys, or the items of a list
	list   bool
	object bool
	listed bool // an item of a list
}

func (v *value) remove(key string) {
	for i, k := range v.keys {
		if k == key {
			v.keys = append(v.keys[:i], v.keys[i+1:]...)
			v.values = append(v.values[:i], v.values[i+1:]...)
			return
		}
	}
}

// ordered gives a definition as JSON, in the order of its Go fields.
func ordered(s duly.Schedule) value {
	data, err := json.Marshal(s)
	if err != nil {
		panic("convert: a schedule is not JSON: " + err.Error()) // it has no payload from outside
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return readValue(dec)
}

func readValue(dec *json.Decoder) value {
	tk, err := dec.Token()
	if err != nil {
		panic("convert: what encoding/json wrote cannot be read: " + err.Error())
	}
	delim, isDelim := tk.(json.Delim)
	if !isDelim {
		return value{scalar: tk}
	}
	v := value{list: delim == '[', object: delim == '{'}
	for dec.More() {
		if v.object {
			key, _ := dec.Token()
			v.keys = append(v.keys, key.(string))
		}
		v.values = append(v.values, readValue(dec))
	}
	_, _ = dec.Token() // the end, which More has seen
	return v
}

// yamlWriter writes block style, and flow style for what is short.
type yamlWriter struct {
	bytes.Buffer
	indent int
	notes  map[string][]Note // by schedule
}

const maxFlow = 100 // characters of a line in flow style

func (w *yamlWriter) line(text string) {
	if text != "" {
		w.WriteString(strings.Repeat(" ", w.indent))
	}
	w.WriteString(text + "\n")
}

// comment writes text on one line, with what a terminal would obey taken out.
func (w *yamlWriter) comment(text string) {
	w.line(strings.TrimRight("# "+visible(text), " "))
}

func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(text, "·"))
}

func (w *yamlWriter) mapping(v value) {
	for i, key := range v.keys {
		w.entry(scalar(key)+":", v.values[i])
	}
}

// item writes an item of a list. The first key of a mapping stands behind the
// dash.
func (w *yamlWriter) item(v value) {
	if !v.object || len(v.keys) == 0 {
		w.entry("-", v)
		return
	}
	start := w.Len()
	w.indent += 2
	w.mapping(v)
	w.indent -= 2
	w.Bytes()[start+w.indent] = '-'
}

// entry writes a value behind its key or its dash.
func (w *yamlWriter) entry(key string, v value) {
	if text, ok := v.scalar.(string); ok && isBlock(text) {
		w.block(key, text)
		return
	}
	v.listed = key == "-"
	if flow, ok := v.flow(); ok && w.indent+len(key)+len(flow) < maxFlow {
		w.line(key + " " + flow)
		return
	}
	if !v.list && !v.object {
		w.line(key + " " + v.inline())
		return
	}
	w.line(key)
	w.indent += 2
	defer func() { w.indent -= 2 }()
	if v.object {
		w.mapping(v)
		return
	}
	for _, item := range v.values {
		w.item(item)
	}
}

// flow writes a value on one line. Mappings in mappings, and texts of several
// lines, are easier to read in block style.
func (v value) flow() (string, bool) {
	if !v.list && !v.object {
		return v.inline(), true
	}
	var items []string
	for i, item := range v.values {
		text, isText := item.scalar.(string)
		if item.object && len(item.keys) > 1 || isText && isBlock(text) {
			return "", false
		}
		item.listed = v.list
		flow, ok := item.flow()
		if !ok {
			return "", false
		}
		if v.object {
			flow = scalar(v.keys[i]) + ": " + flow
		}
		items = append(items, flow)
	}
	if v.list {
		return "[" + strings.Join(items, ", ") + "]", true
	}
	if len(items) == 0 {
		return "{}", true
	}
	return "{ " + strings.Join(items, ", ") + " }", true
}

func (v value) inline() string {
	if text, ok := v.scalar.(string); ok && v.listed {
		return quote(text) // as the others beside it
	} else if ok {
		return scalar(text)
	}
	if v.scalar == nil {
		return "null"
	}
	return fmt.Sprint(v.scalar)
}

// isBlock reports whether a text is best written as a literal block: it has
// several lines, and nothing that a block cannot hold or an editor might eat.
func isBlock(text string) bool {
	if !strings.Contains(strings.TrimSuffix(text, "\n"), "\n") || text[0] == ' ' || text[0] == '\n' || strings.HasSuffix(text, "\n\n") {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasSuffix(line, " ") || strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return false
		}
	}
	return true
}

// block writes a text as a literal block.
func (w *yamlWriter) block(key, text string) {
	sign := " |"
	if !strings.HasSuffix(text, "\n") {
		sign = " |-"
	}
	w.line(key + sign)
	w.indent += 2
	for line := range strings.SplitSeq(strings.TrimSuffix(escapePlaceholders(text), "\n"), "\n") {
		w.line(line)
	}
	w.indent -= 2
}

// escapePlaceholders keeps a shell's ${x} from being taken for one of Duly's.
func escapePlaceholders(text string) string { return strings.ReplaceAll(text, "${", "$${") }

var (
	// plain texts mean the same to every reader of YAML, in every place.
	plain = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./-]*$`)
	// reserved words are something else to one reader or another.
	reserved = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null)$`)
	// length is a duration: a number with a unit, which is a text to all.
	length = regexp.MustCompile(`^[1-9][0-9]*(ms|s|m|h|d)$`)
)

// scalar writes a text on one line, in double quotes unless it is plain.
func scalar(text string) string {
	if length.MatchString(text) || plain.MatchString(text) && !reserved.MatchString(text) {
		return text
	}
	return quote(text)
}

func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range escapePlaceholders(text) {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r) && r != utf8.RuneError:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
