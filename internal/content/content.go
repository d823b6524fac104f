// Package content says what of a definition is kept and when two are equal: the
// schedule without its ID, so that a thousand schedules with one definition
// share a row, compared by a hash that does not see the order of a payload's
// keys. Where contents are kept is their store's.
package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/duly-dev/duly"
)

// Encode is the content of a definition and its hash. Code invalid where it has
// no JSON form.
func Encode(s duly.Schedule) (content json.RawMessage, hash []byte, err error) {
	id := s.ID
	s.ID = ""
	if content, err = json.Marshal(s); err != nil {
		return nil, nil, duly.Invalid("schedules", "schedule %s cannot be stored: %v", id, err)
	}
	// Payloads that differ in the order of their keys are equal; the content
	// keeps the order that was written.
	if s.Payload, err = canonical(s.Payload); err != nil {
		return nil, nil, duly.Invalid("payload", "of schedule %s is not valid JSON: %v", id, err)
	}
	same, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.Sum256(same)
	return content, sum[:], nil
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
