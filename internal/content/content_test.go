package content

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/duly-dev/duly"
)

func TestEqualDefinitionsHaveOneHashAndOthersNot(t *testing.T) {
	base := duly.Schedule{ID: "a", Timing: duly.Timing{Cron: "@daily"}, Payload: json.RawMessage(`{"a":1,"b":900719925474099312345}`), Target: duly.Target{Handler: "h"}}
	encode := func(change func(*duly.Schedule)) (json.RawMessage, []byte) {
		t.Helper()
		s := base
		change(&s)
		content, hash, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		return content, hash
	}
	content, hash := encode(func(*duly.Schedule) {})
	if bytes.Contains(content, []byte(`"id"`)) {
		t.Errorf("the content names the schedule: %s", content)
	}
	for name, change := range map[string]func(*duly.Schedule){
		"another ID":            func(s *duly.Schedule) { s.ID = "b" },
		"another order of keys": func(s *duly.Schedule) { s.Payload = json.RawMessage(`{ "b": 900719925474099312345, "a": 1 }`) },
	} {
		if _, h := encode(change); !bytes.Equal(h, hash) {
			t.Errorf("%s makes another definition", name)
		}
	}
	for name, change := range map[string]func(*duly.Schedule){
		"another timing":     func(s *duly.Schedule) { s.Cron = "@hourly" },
		"another last digit": func(s *duly.Schedule) { s.Payload = json.RawMessage(`{"a":1,"b":900719925474099312346}`) },
	} {
		if _, h := encode(change); bytes.Equal(h, hash) {
			t.Errorf("%s makes no other definition", name)
		}
	}
	if _, _, err := Encode(duly.Schedule{ID: "a", Payload: json.RawMessage(`{`)}); duly.CodeOf(err) != duly.CodeInvalid {
		t.Errorf("a broken payload is answered with %v", err)
	}
}
