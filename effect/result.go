package effect

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/duly-dev/duly"
)

// encode writes a result as JSON that every database stores unchanged. A
// struct{} has nothing to store.
func encode[T any](e effect, v T) (json.RawMessage, error) {
	if _, nothing := any(v).(struct{}); nothing {
		return nil, nil
	}
	data, err := json.Marshal(v)
	if err == nil && !utf8.Valid(data) {
		err = errors.New("its JSON is not valid UTF-8")
	}
	if err != nil {
		return nil, duly.Errorf(duly.CodeInvalid, "%s: its result cannot be stored as JSON: %w", e.name(), err)
	}
	return ascii(data), nil
}

// legible makes sure that a later attempt will be able to read a result: better
// no effect now than one that no retry can report.
func legible[T any](e effect, result json.RawMessage) error {
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(result, new(T)); err != nil {
		return duly.Errorf(duly.CodeInvalid, "%s: its result can be written as JSON but not read back, so a retry could not return it: %w", e.name(), err)
	}
	return nil
}

// decode reads what an earlier attempt stored.
func decode[T any](e effect, stored json.RawMessage) (T, error) {
	var v T
	if stored == nil {
		return v, nil
	}
	if err := json.Unmarshal(stored, &v); err != nil {
		return v, duly.Errorf(duly.CodeInvalid, "%s happened before, but its stored result does not fit a %T: %w", e.name(), v, err)
	}
	return v, nil
}

// ascii escapes all that is not ASCII, which in JSON stands in strings only, so
// that no character set of a database or a connection can change it.
func ascii(data []byte) []byte {
	if !slices.ContainsFunc(data, func(b byte) bool { return b >= utf8.RuneSelf }) {
		return data
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		if data[0] < utf8.RuneSelf {
			out = append(out, data[0])
			data = data[1:]
			continue
		}
		r, size := utf8.DecodeRune(data)
		if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		data = data[size:]
	}
	return out
}
