package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/duly-dev/duly/config"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// JSON is YAML: what is written as JSON is read as it was meant, in one line
// and indented.
func TestAnyJSONPayloadIsReadAsItWasMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := jsonValue(t, 3)
		data, err := json.Marshal(map[string]any{"schedules": map[string]any{"s": map[string]any{
			"every": "1h", "target": map[string]any{"handler": "h"}, "payload": want,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.ReplaceAll(data, []byte("${"), []byte("$${"))
		var indented bytes.Buffer
		if err := json.Indent(&indented, data, "", "  "); err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{data, indented.Bytes()} {
			file, err := config.Parse("duly.yaml", text, nil)
			if err != nil {
				t.Fatalf("%s\n%v", text, err)
			}
			dec := json.NewDecoder(bytes.NewReader(file.Schedules[0].Payload))
			dec.UseNumber()
			var got any
			if err := dec.Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", text, diff)
			}
		}
	})
}

func jsonValue(t *rapid.T, depth int) any {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(fmt.Sprint(rapid.Int64().Draw(t, "integer")))
	case 3:
		return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][-+]?[0-9]{1,3})?`).Draw(t, "number"))
	case 4:
		return rapid.String().Draw(t, "text")
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "items") {
			list = append(list, jsonValue(t, depth-1))
		}
		return list
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		// Placeholders are read in values only, so a key is never escaped; the
		// test escapes the whole text.
		key := strings.ReplaceAll(rapid.String().Draw(t, "key"), "${", "$")
		m[key] = jsonValue(t, depth-1)
	}
	return m
}
