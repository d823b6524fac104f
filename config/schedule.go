package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
)

func (r *reader) readSchedule(e entry, f *field) {
	whole := r.withDefaults(e.value)
	v, ok := r.value(whole, f)
	if !ok {
		return
	}
	parts := v.(map[string]any)
	payload, hasPayload := parts["payload"]
	delete(parts, "payload") // a payload is not to pass through a Go type

	var s duly.Schedule
	if err := remarshal(parts, &s); err != nil {
		r.fault(e.key, "schedule %s cannot be read: %v", e.name, err)
		return
	}
	s.ID = e.name
	if hasPayload {
		s.Payload = marshal(payload)
	}
	r.placeCalendar(&s, whole)
	r.checkQueue(&s, whole)
	r.compile(e, whole, s)
	r.file.Schedules = append(r.file.Schedules, s)
}

// checkQueue warns of a queue that the file does not define: another file may,
// and until one does it has concurrency 1.
func (r *reader) checkQueue(s *duly.Schedule, whole *node) {
	if s.Queue == "" || r.queues[s.Queue] {
		return
	}
	r.warn(whole.get("queue").value, "this file does not define the queue %s; unless another does, it has concurrency 1%s",
		r.censor(nil, s.Queue), suggest(s.Queue, keys(r.queues)))
}

// objections puts what the packages that own the meaning object to back to
// where it stands. Where the decoding found faults already, what follows from
// them is left out: a key that could not be read is not missing.
func (r *reader) objections(e entry, whole *node, errs []*duly.Error) {
	for _, err := range errs {
		at, value, exact := locate(e, whole, err.Field)
		if r.faulty[whole] && (!exact || r.faulty[value]) {
			continue
		}
		message := err.Message
		line, col, width := at.line, at.col, r.width(at)
		var p *cron.ParseError
		if errors.As(err, &p) {
			message = fmt.Sprintf("%q: %s", p.Expr, p.Message)
			if shift, ok := r.literal(at); ok && p.Expr == at.text && p.Field != "" && p.Column >= 1 && p.Column <= len(p.Expr) {
				col += shift + utf8.RuneCountInString(p.Expr[:p.Column-1])
				width = offending(p.Expr[p.Column-1:])
			}
		}
		if err.Field != "" && at != e.key {
			message = err.Field + ": " + message
		}
		message = r.censor(at, message)
		if r.shared[at] || at.line < e.key.line {
			// It came from defaults or an anchor, where many schedules may get it.
			place := Fault{Line: line, Column: col, Message: message}
			if r.objected[place] {
				continue
			}
			r.objected[place] = true
			message += " (in " + e.name + ", which gets it from here)"
		}
		r.faultAt(line, col, width, message)
	}
}

// offending is how many characters of an expression the item that it begins
// with takes.
func offending(expr string) int {
	if end := strings.IndexAny(expr, " \t,"); end > 0 {
		expr = expr[:end]
	}
	return utf8.RuneCountInString(expr)
}

var pathStep = regexp.MustCompile(`[^.\[\]]+`)

// locate finds the value that a field's path names, and where to point: at the
// value itself, or at its key where it is a mapping or a list. Where the file
// does not have it, exact is false and both are those of what should have it.
func locate(e entry, whole *node, path string) (at, value *node, exact bool) {
	at = e.key
	if path == "" || path == "id" || path == "name" {
		return at, at, true
	}
	n := whole
	for _, step := range pathStep.FindAllString(path, -1) {
		if i, err := strconv.Atoi(step); err == nil {
			if n.kind != kindList && i == 0 {
				continue // one value written for a list of one
			}
			if i >= len(n.items) {
				return at, n, false
			}
			n = n.items[i]
			at = n
			continue
		}
		next := n.get(step)
		if next == nil {
			return at, n, false
		}
		n, at = next.value, next.key
	}
	if n.isScalar() {
		at = n
	}
	return at, n, true
}

var quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// censor takes out of a message what placeholders stand for. A message about a
// text with placeholders quotes the text as it stands in the file.
func (r *reader) censor(about *node, message string) string {
	if about != nil && len(about.secrets) > 0 {
		message = quotedText.ReplaceAllLiteralString(message, strconv.Quote(about.text))
	}
	for _, secret := range r.fill.secrets {
		const telling = 6 // characters; shorter ones are in every other word
		if len(secret) < telling {
			continue
		}
		message = strings.ReplaceAll(message, secret, "…")
		quoted := strconv.Quote(secret)
		message = strings.ReplaceAll(message, quoted[1:len(quoted)-1], "…")
	}
	return message
}

// marshal writes JSON with sorted keys and without HTML's escapes.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("config: what the decoder made is not JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func remarshal(v, target any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, target)
}
