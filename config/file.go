package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/duly-dev/duly"
)

// File is what a duly.yaml says.
type File struct {
	Name string
	// Schedules are in the order of the file. Defaults are applied and
	// calendars copied in, so that each is complete in itself.
	Schedules []duly.Schedule
	Queues    []duly.Queue
	// Calendars are the named ones, the days of their ICS files included.
	Calendars []duly.CalendarRule
	// Warnings are about what is allowed but probably not meant, such as a
	// queue that the file does not define.
	Warnings Faults
}

// Load reads a file and fills its placeholders from the environment of the
// process. An error about the content is Faults; one about the file itself has
// code not_found where it does not exist, and otherwise code invalid.
func Load(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, duly.Errorf(duly.CodeNotFound, "%s: %w", path, cause(err))
	case err != nil:
		return nil, duly.Errorf(duly.CodeInvalid, "%s cannot be read: %w", path, cause(err))
	case info.IsDir():
		return nil, duly.Errorf(duly.CodeInvalid, "%s is a folder; name the file in it", path)
	case info.Size() > maxFile:
		return nil, tooLarge(path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, duly.Errorf(duly.CodeInvalid, "%s cannot be read: %w", path, cause(err))
	}
	return Parse(path, data, os.LookupEnv)
}

func tooLarge(name string) error {
	return duly.Errorf(duly.CodeInvalid, "%s is longer than %d MiB; divide it", name, maxFile>>20)
}

// Parse reads the text of a file. Its name is for messages, and paths in it are
// relative to the name's folder. env answers for ${env:NAME}; nil knows no
// variable. An error is Faults, or has code invalid.
func Parse(name string, data []byte, env func(string) (string, bool)) (*File, error) {
	if len(data) > maxFile {
		return nil, tooLarge(name)
	}
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	s := newSource(name, text)
	root := s.parseYAML()
	if root == nil {
		return nil, s.err()
	}
	r := &reader{
		decoder: &decoder{source: s, fill: filler{folder: filepath.Dir(name), env: env}, faulty: map[*node]bool{}},
		shape:   shapes(),
		file:    &File{Name: name},

		calendars: map[string]*namedCalendar{},
		queues:    map[string]bool{},
		shared:    map[*node]bool{},
		objected:  map[Fault]bool{},
	}
	r.read(root)
	if err := s.err(); err != nil {
		return nil, err
	}
	r.file.Warnings = sorted(s.warnings)
	return r.file, nil
}

// reader puts a file together from its decoded parts.
type reader struct {
	*decoder
	shape *shape
	file  *File

	calendars map[string]*namedCalendar
	queues    map[string]bool
	defaults  *node
	shared    map[*node]bool // the nodes of defaults
	objected  map[Fault]bool // faults of nodes that schedules share
}

func (r *reader) read(root *node) {
	if root.kind != kindMapping {
		if root.kind != kindBad {
			r.fault(root, "a file is a mapping with schedules: in it, not %v", root.kind)
		}
		return
	}
	for _, e := range root.entries {
		if r.shape.field(e.name) == nil && !strings.HasPrefix(e.name, "x-") {
			r.unknownKey(root, e, &field{shape: r.shape})
		}
	}
	if root.get("schedules") == nil && !r.faulty[root] {
		r.fault(root, "the file has no schedules: (write schedules: {} for none)")
	}
	r.readDefaults(root.get("defaults"))
	r.section(root.get("calendars"), r.readCalendar)
	r.section(root.get("queues"), r.readQueue)
	r.section(root.get("schedules"), r.readSchedule)
	r.warnUnused()
}

// section reads the entries of one of the file's mappings in order.
func (r *reader) section(e *entry, read func(entry, *field)) {
	if e == nil {
		return
	}
	switch e.value.kind {
	case kindMapping:
	case kindBad:
		return
	case kindNothing, kindNull:
		r.fault(e.key, "%s has no value; write %[1]s: {} for none", e.name)
		return
	default:
		r.fault(e.value, "%s is %v; write a mapping from names to definitions", e.name, e.value.kind)
		return
	}
	f := r.shape.field(e.name)
	for _, item := range e.value.entries {
		if item.value.kind == kindNull || item.value.kind == kindNothing {
			r.fault(item.key, "%s %s has no definition; write a mapping", f.item, item.name)
			continue
		}
		if item.value.kind != kindMapping && item.value.kind != kindBad {
			r.fault(item.value, "%s %s is %v; write a mapping", f.item, item.name, item.value.kind)
			continue
		}
		if item.value.kind == kindMapping {
			read(item, &field{name: item.name, shape: f.elem})
		}
	}
}

// readDefaults checks the defaults by themselves, so that what is wrong with
// them is said once and in a file without schedules too.
func (r *reader) readDefaults(e *entry) {
	if e == nil {
		return
	}
	f := r.shape.field("defaults")
	if _, ok := r.value(e.value, f); !ok {
		return
	}
	sound := *e.value
	sound.entries = nil
	for _, d := range e.value.entries {
		if f.field(d.name) != nil && !r.faulty[d.value] {
			sound.entries = append(sound.entries, d)
		}
	}
	r.defaults = &sound
	r.share(r.defaults)
}

func (r *reader) share(n *node) {
	if r.shared[n] {
		return
	}
	r.shared[n] = true
	for _, e := range n.entries {
		r.shared[e.key] = true
		r.share(e.value)
	}
	for _, item := range n.items {
		r.share(item)
	}
}

// withDefaults returns a schedule's node with the defaults that it does not
// override.
func (r *reader) withDefaults(own *node) *node {
	if r.defaults == nil {
		return own
	}
	return overlay(own, r.defaults, "catch_up", "dst", "retry")
}

// overlay returns a mapping with the entries of own, and those of base that
// own does not have. The entries named deep are overlaid in their turn where
// both are mappings.
func overlay(own, base *node, deep ...string) *node {
	merged := *own
	merged.entries = slices.Clone(own.entries)
	for _, e := range base.entries {
		mine := merged.get(e.name)
		if mine == nil {
			merged.entries = append(merged.entries, e)
			continue
		}
		if slices.Contains(deep, e.name) && mine.value.kind == kindMapping && e.value.kind == kindMapping {
			mine.value = overlay(mine.value, e.value)
		}
	}
	return &merged
}

func (r *reader) readQueue(e entry, f *field) {
	r.queues[e.name] = true
	var q duly.Queue
	if !r.into(e, f, &q) {
		return
	}
	q.Name = e.name
	r.objections(e, e.value, q.Validate())
	r.file.Queues = append(r.file.Queues, q)
}

func (r *reader) warnUnused() {
	for _, c := range r.file.Calendars {
		if named := r.calendars[c.Name]; !named.used {
			r.warn(named.key, "no schedule uses the calendar %s", c.Name)
		}
	}
}

// into decodes an entry into a Go value; false where there is none to go on with.
func (r *reader) into(e entry, f *field, target any) bool {
	v, ok := r.value(e.value, f)
	if !ok {
		return false
	}
	if err := remarshal(v, target); err != nil {
		// The shape lets nothing through that its type refuses.
		r.fault(e.key, "%s cannot be read: %v", fmt.Sprintf("%s %s", f.typeName, e.name), err)
		return false
	}
	return true
}
