package config

import (
	"bytes"
	"encoding/json"
)

// Schema returns the JSON Schema (draft 2020-12) of the file, for editors and
// for checks in a pipeline. It knows the keys, their types and their closed
// lists of values; [Parse] knows more.
func Schema() []byte {
	root := schemaOf(&field{shape: shapes()})
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "duly.yaml"
	root.Description = "Schedules and queues for Duly."
	root.PatternProperties = map[string]*schema{"^x-": {Description: "Ignored: a place for anchors."}}
	root.Defs = map[string]*schema{"placeholder": {
		Type: "string", Pattern: placeholderPattern,
		Description: "${env:NAME} is an environment variable, ${file:PATH} the content of a file.",
	}}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("config: the schema is not JSON: " + err.Error())
	}
	return b.Bytes()
}

const (
	placeholderPattern = `\$\{(env|file):[^}]+\}`
	datePattern        = `^[0-9]{4}-[0-9]{2}-[0-9]{2}$|` + placeholderPattern
	durationPattern    = `^([0-9]+w)?([0-9]+d)?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(h|m|s|ms|us|µs|ns))*$|` + placeholderPattern
)

// schema is the part of JSON Schema that the file needs.
type schema struct {
	Schema      string `json:"$schema,omitempty"`
	Ref         string `json:"$ref,omitempty"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`

	Enum      []string `json:"enum,omitempty"`
	Format    string   `json:"format,omitempty"`
	Pattern   string   `json:"pattern,omitempty"`
	MinLength int      `json:"minLength,omitempty"`
	// Not is the zero that a key refuses: what is negative is another matter.
	Not   *constant `json:"not,omitempty"`
	AnyOf []*schema `json:"anyOf,omitempty"`
	Items *schema   `json:"items,omitempty"`

	Properties           map[string]*schema `json:"properties,omitempty"`
	PatternProperties    map[string]*schema `json:"patternProperties,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false or *schema
	Required             []string           `json:"required,omitempty"`
	MaxProperties        int                `json:"maxProperties,omitempty"`

	Defs map[string]*schema `json:"$defs,omitempty"`
}

type constant struct {
	Const int `json:"const"`
}

func placeholder() *schema { return &schema{Ref: "#/$defs/placeholder"} }

// schemaOf prints a shape. Every value may be a placeholder, and every key of a
// schedule null, which takes a default away.
func schemaOf(f *field) *schema {
	s := schemaOfKind(f)
	s.Description = f.doc.text
	return s
}

func schemaOfKind(f *field) *schema {
	switch f.kind {
	case shapeObject:
		s := objectSchema(f)
		if f.doc.brief {
			return &schema{AnyOf: []*schema{{Type: "string", MinLength: 1}, s}}
		}
		return s
	case shapeDict:
		return &schema{Type: "object", AdditionalProperties: schemaOf(&field{shape: f.elem})}
	case shapeList:
		item := schemaOfKind(&field{doc: f.doc, shape: f.elem})
		s := &schema{Type: "array", Items: item}
		if f.doc.single {
			return &schema{AnyOf: []*schema{item, s}}
		}
		return s
	case shapeInteger:
		number := &schema{Type: "integer"}
		if f.doc.zero != "" {
			number.Not = &constant{}
		}
		return &schema{AnyOf: []*schema{number, placeholder()}}
	case shapeBool:
		return &schema{AnyOf: []*schema{{Type: "boolean"}, placeholder()}}
	case shapeDuration:
		return &schema{Type: "string", MinLength: 1, Pattern: durationPattern}
	case shapeTime:
		return &schema{AnyOf: []*schema{{Type: "string", Format: "date-time"}, placeholder()}}
	case shapeText:
		return textSchema(f)
	}
	return &schema{} // any
}

func textSchema(f *field) *schema {
	switch {
	case len(f.doc.enum) > 0:
		return &schema{AnyOf: []*schema{{Enum: f.doc.enum}, placeholder()}}
	case f.doc.date:
		return &schema{Type: "string", Pattern: datePattern}
	case f.doc.zero != "":
		return &schema{Type: "string", MinLength: 1}
	}
	return &schema{Type: "string"}
}

func objectSchema(f *field) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}, AdditionalProperties: false}
	for i := range f.fields {
		sub := &f.fields[i]
		p := schemaOf(sub)
		if f.typeName == "Schedule" && sub.kind != shapeAny {
			p = orNull(p)
		}
		s.Properties[sub.name] = p
		if sub.required {
			s.Required = append(s.Required, sub.name)
		}
	}
	if f.typeName == "Target" {
		s.MaxProperties = 1
	}
	return s
}

func orNull(s *schema) *schema {
	if s.AnyOf != nil {
		s.AnyOf = append(s.AnyOf, &schema{Type: "null"})
		return s
	}
	either := &schema{Description: s.Description, AnyOf: []*schema{s, {Type: "null"}}}
	s.Description = ""
	return either
}
