package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/duly-dev/duly/config"
	"github.com/goccy/go-yaml"
)

// validator holds a value against the schema by somebody else's reading of
// JSON Schema.
type validator struct {
	registry huma.Registry
	root     *huma.Schema
}

func newValidator(t *testing.T) validator {
	t.Helper()
	var raw map[string]any
	if err := json.Unmarshal(config.Schema(), &raw); err != nil {
		t.Fatal(err)
	}
	v := validator{registry: huma.NewMapRegistry("#/$defs/", huma.DefaultSchemaNamer)}
	for name, def := range raw["$defs"].(map[string]any) {
		v.registry.Map()[name] = humaSchema(t, def)
	}
	v.root = humaSchema(t, raw)
	return v
}

// humaSchema reads a schema into huma's type, which can only write one.
func humaSchema(t *testing.T, raw any) *huma.Schema {
	t.Helper()
	s := &huma.Schema{}
	for key, value := range raw.(map[string]any) {
		switch key {
		case "$schema", "$defs", "patternProperties", "description", "title":
		case "$ref":
			s.Ref = value.(string)
		case "type":
			s.Type = value.(string)
			if s.Type == "null" { // huma has no such type: a text that none can be, or null
				s.Type, s.Nullable, s.Pattern = "string", true, "$x"
			}
		case "format":
			s.Format = value.(string)
		case "pattern":
			s.Pattern = value.(string)
		case "enum":
			s.Enum = value.([]any)
		case "const":
			s.Const = value
		case "not":
			s.Not = humaSchema(t, value)
		case "items":
			s.Items = humaSchema(t, value)
		case "minLength":
			n := int(value.(float64))
			s.MinLength = &n
		case "maxProperties":
			n := int(value.(float64))
			s.MaxProperties = &n
		case "required":
			for _, name := range value.([]any) {
				s.Required = append(s.Required, name.(string))
			}
		case "anyOf":
			for _, sub := range value.([]any) {
				s.AnyOf = append(s.AnyOf, humaSchema(t, sub))
			}
		case "properties":
			s.Properties = map[string]*huma.Schema{}
			for name, sub := range value.(map[string]any) {
				s.Properties[name] = humaSchema(t, sub)
			}
		case "additionalProperties":
			s.AdditionalProperties = value
			if _, ok := value.(map[string]any); ok {
				s.AdditionalProperties = humaSchema(t, value)
			}
		default:
			t.Fatalf("the schema uses %q, which this test cannot check", key)
		}
	}
	s.PrecomputeMessages()
	return s
}

func (v validator) faults(t *testing.T, text string) []error {
	t.Helper()
	var value map[string]any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	for key := range value {
		if strings.HasPrefix(key, "x-") { // patternProperties, which huma does not know
			delete(value, key)
		}
	}
	// As JSON, so that all numbers and mappings are of the types huma expects.
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(data, &plain); err != nil {
		t.Fatal(err)
	}
	res := &huma.ValidateResult{}
	huma.Validate(v.registry, v.root, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, plain, res)
	return res.Errors
}

func TestTheSchemaAcceptsTheExamples(t *testing.T) {
	v := newValidator(t)
	for _, name := range []string{"design.yaml", "full.yaml", "warnings.yaml"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range v.faults(t, string(data)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever the schema refuses, Parse refuses too, and the other way round for
// what a schema can know.
func TestTheSchemaAndParseAgree(t *testing.T) {
	v := newValidator(t)
	for _, c := range []struct {
		keys string // of a schedule with a target and a timing
		ok   bool
	}{
		{"overlap: skip", true},
		{"overlap: que", false},
		{"overlap: ${env:EMPTY}", true}, // a schema cannot know what it stands for
		{"overlap: null", true},
		{"overlap: ''", false},
		{"unknown: 1", false},
		{"id: s", false},
		{"timezone: ''", false},
		{"timezone: 1", false},
		{"lease: 30s", true},
		{"timeout: 1d12h", true},
		{"lease: 1.5m", true},
		{"lease: 30", false},
		{"lease: 30 s", false},
		{"lease: ''", false},
		{"limit: 5", true},
		{"limit: five", false},
		{"limit: 1.5", false},
		{"external: maybe", false},
		{"start: 2026-11-28T09:00:00Z", true},
		{"start: yesterday", false},
		{"retry: { max_attempts: 0 }", false},
		{"retry: { max_attempts: 1 }", true},
		{"retry: { attempts: 1 }", false},
		{"retry: 5", false},
		{"calendar: { holidays: [2026-12-25] }", true},
		{"calendar: { holidays: [25.12.2026] }", false},
		{"calendar: { holidays: 2026-12-25 }", false},
		{"calendar: { weekdays: [mon] }", true},
		{"calendar: { weekdays: [Mon] }", false},
		{"calendar: [x]", false},
		{"timings: [{ every: 1h }]", true},
		{"timings: [{ evry: 1h }]", false},
		{"timings: { every: 1h }", false},
		{"except: [{ dates: [2026-12-25], note: x }]", true},
		{"except: [{ date: 2026-12-25 }]", false},
		{"payload: { any: [1, x, { y: null }] }", true},
		{"payload: null", true},
	} {
		text := one("    every: 1h\n    target: { handler: h }\n    " + c.keys + "\n")
		_, err := config.Parse("duly.yaml", []byte(text), environment)
		if parsed := err == nil; parsed != c.ok && !strings.Contains(c.keys, "${") {
			t.Errorf("%s: Parse accepts: %v (%v)", c.keys, parsed, err)
		}
		if faults := v.faults(t, text); (len(faults) == 0) != c.ok {
			t.Errorf("%s: the schema: %v", c.keys, faults)
		}
	}
	for _, target := range []string{"{ exec: {} }", "{ http: {} }", "{ exec: { command: x } }", "{ handler: a, exec: { command: [x] } }", "{ shell: x }"} {
		if len(v.faults(t, one("    every: 1h\n    target: "+target+"\n"))) == 0 {
			t.Errorf("the schema accepts target: %s", target)
		}
	}
	for _, file := range []string{"{}", "schedules: []", "schedules: {}\nqueue: {}", "schedules: {}\nqueues: { b: { concurrency: 0 } }", "schedules: {}\ndefaults: { cron: x }", "schedules: {}\ncalendars: { c: { ics: 1 } }"} {
		if len(v.faults(t, file)) == 0 {
			t.Errorf("the schema accepts %q", file)
		}
		if _, err := config.Parse("duly.yaml", []byte(file), nil); err == nil {
			t.Errorf("Parse accepts %q", file)
		}
	}
}

func TestTheSchemaChangesOnPurpose(t *testing.T) {
	golden(t, "testdata/duly.schema.json", string(config.Schema()))
}
