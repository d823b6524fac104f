package memstore

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// definitions are the contents that were ever defined. They have a mutex of
// their own, since a planner reads them in the middle of a step.
type definitions struct {
	mu     sync.Mutex
	byHash map[string]int64
	all    []duly.Schedule // definition n is all[n-1]
}

// encoded is a definition as it is compared.
type encoded struct {
	store.Definition
	content json.RawMessage // without the ID
	hash    string
}

func encode(d store.Definition) (*encoded, error) {
	s := d.Schedule
	s.ID = ""
	content, err := json.Marshal(s)
	if err != nil {
		return nil, duly.Invalid("schedules", "schedule %s cannot be stored: %v", d.Schedule.ID, err)
	}
	// Payloads that differ in the order of their keys are equal.
	if s.Payload, err = canonical(s.Payload); err != nil {
		return nil, duly.Invalid("payload", "of schedule %s is not valid JSON: %v", d.Schedule.ID, err)
	}
	same, err := json.Marshal(s)
	return &encoded{Definition: d, content: content, hash: string(same)}, err
}

func canonical(j json.RawMessage) (json.RawMessage, error) {
	if len(j) == 0 {
		return nil, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// encodeAll encodes definitions and refuses two for one schedule.
func encodeAll(all []store.Definition) ([]*encoded, error) {
	seen := make(map[string]bool, len(all))
	list := make([]*encoded, len(all))
	for i, d := range all {
		if seen[d.Schedule.ID] {
			return nil, duly.Invalid("id", "schedule %s is defined twice", d.Schedule.ID)
		}
		seen[d.Schedule.ID] = true
		var err error
		if list[i], err = encode(d); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// number is the number of a content, given on first use.
func (d *definitions) number(e *encoded) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.byHash[e.hash]; n != 0 {
		return n, nil
	}
	var s duly.Schedule // a copy that nobody else can change
	if err := json.Unmarshal(e.content, &s); err != nil {
		return 0, err
	}
	if d.byHash == nil {
		d.byHash = map[string]int64{}
	}
	d.all = append(d.all, s)
	n := int64(len(d.all))
	d.byHash[e.hash] = n
	return n, nil
}

func (d *definitions) get(n int64) (duly.Schedule, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n < 1 || n > int64(len(d.all)) {
		return duly.Schedule{}, false
	}
	return d.all[n-1], true
}

func (d *definitions) content(n int64) json.RawMessage {
	s, _ := d.get(n)
	content, err := json.Marshal(s)
	if err != nil {
		panic(err) // it was JSON before
	}
	return content
}

// Definition implements store.Reader.
func (s *Store) Definition(_ context.Context, id int64) (duly.Schedule, error) {
	def, ok := s.defs.get(id)
	if !ok {
		return def, duly.Errorf(duly.CodeNotFound, "there is no definition %d", id)
	}
	return def, nil
}

// Definitions implements store.Reader.
func (s *Store) Definitions(_ context.Context, ids []int64) (map[int64]duly.Schedule, error) {
	all := make(map[int64]duly.Schedule, len(ids))
	for _, id := range ids {
		if def, ok := s.defs.get(id); ok {
			all[id] = def
		}
	}
	return all, nil
}
