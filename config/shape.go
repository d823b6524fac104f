package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/duly-dev/duly"
)

// shape is what may stand at a place of the file. It is reflected from the Go
// type that is decoded there, and is what decoding checks and the JSON Schema
// prints.
type shape struct {
	kind     shapeKind
	typeName string  // of an object, which is how its fields are documented
	fields   []field // of an object, in the order of its Go fields
	elem     *shape  // of a list or a dict
	item     string  // of a dict: what one of its entries is called
}

// field is a key of an object.
type field struct {
	name     string
	doc      fieldDoc
	required bool
	*shape
}

type shapeKind int

const (
	shapeObject shapeKind = iota
	shapeDict             // a mapping with keys of the user's choice
	shapeList
	shapeText
	shapeInteger
	shapeBool
	shapeDuration
	shapeTime
	shapeAny // any JSON
)

// document is the file, one Go type for each place.
type document struct {
	Schedules map[string]duly.Schedule `json:"schedules"`
	Queues    map[string]duly.Queue    `json:"queues,omitempty"`
	Calendars map[string]calendarEntry `json:"calendars,omitempty"`
	Defaults  duly.Schedule            `json:"defaults,omitzero"`
}

// calendarEntry is a named calendar before its ICS files are read.
type calendarEntry struct {
	Weekdays []string `json:"weekdays,omitempty"`
	Holidays []string `json:"holidays,omitempty"`
	Workdays []string `json:"workdays,omitempty"`
	ICS      []string `json:"ics,omitempty"`
}

// shapes reflects document. An ID or a name is the key of its entry, so the
// field that holds it is left out.
func shapes() *shape {
	r := reflector{docs: describe()}
	root := r.object(reflect.TypeFor[document](), "")
	root.typeName = "document"
	schedules := root.field("schedules")
	schedules.item = "schedule"
	schedules.elem.remove("id")
	schedules.elem.field("target").required = false // defaults may have it, and a platform's schedule needs none
	root.field("queues").item = "queue"
	root.field("queues").elem.remove("name")
	root.field("calendars").item = "calendar"
	defaults := root.field("defaults")
	defaults.field("target").required = false
	defaults.remove(append([]string{"id", "description"}, timingKeys...)...)
	return root
}

// timingKeys say when a schedule is due. They are each schedule's own: to
// inherit a timing beside one's own would double it.
var timingKeys = []string{"cron", "every", "anchor", "at", "rrule", "timings", "external"}

func (s *shape) field(name string) *field {
	for i := range s.fields {
		if s.fields[i].name == name {
			return &s.fields[i]
		}
	}
	return nil
}

func (s *shape) remove(names ...string) {
	kept := s.fields[:0]
	for _, f := range s.fields {
		if !slices.Contains(names, f.name) {
			kept = append(kept, f)
		}
	}
	s.fields = kept
}

func (s *shape) names() []string {
	names := make([]string, len(s.fields))
	for i, f := range s.fields {
		names[i] = f.name
	}
	return names
}

type reflector struct{ docs map[string]fieldDoc }

func (r reflector) shape(t reflect.Type) *shape {
	switch t {
	case reflect.TypeFor[duly.Duration]():
		return &shape{kind: shapeDuration}
	case reflect.TypeFor[time.Time]():
		return &shape{kind: shapeTime}
	case reflect.TypeFor[json.RawMessage]():
		return &shape{kind: shapeAny}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.shape(t.Elem())
	case reflect.Struct:
		return r.object(t, t.Name())
	case reflect.Map:
		return &shape{kind: shapeDict, elem: r.shape(t.Elem())}
	case reflect.Slice:
		return &shape{kind: shapeList, elem: r.shape(t.Elem())}
	case reflect.String:
		return &shape{kind: shapeText}
	case reflect.Int:
		return &shape{kind: shapeInteger}
	case reflect.Bool:
		return &shape{kind: shapeBool}
	}
	panic("config: no shape for " + t.String()) // a new kind of field; shapes are built by every test
}

func (r reflector) object(t reflect.Type, name string) *shape {
	s := &shape{kind: shapeObject, typeName: name}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.fields = append(s.fields, r.object(f.Type, f.Type.Name()).fields...)
			continue
		}
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.fields = append(s.fields, field{
			name: key, doc: r.docs[t.Name()+"."+key], required: !strings.Contains(options, "omit"), shape: r.shape(f.Type),
		})
	}
	return s
}
