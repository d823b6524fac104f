package server

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/duly-dev/duly/control"
)

//go:generate go test -run TestOpenAPIFileIsWhatTheTypesSay -update .

var update = flag.Bool("update", false, "write api/openapi.json")

const specFile = "../api/openapi.json"

// TestOpenAPIFileIsWhatTheTypesSay keeps the published description in step
// with the code: what huma knows of operations and types, the names that enums
// deserve, and the doc comments of the Go types.
func TestOpenAPIFileIsWhatTheTypesSay(t *testing.T) {
	want := published(t)
	if *update {
		if err := os.WriteFile(specFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the code says; run go generate ./server", specFile)
	}
}

// published is the description as it is given out.
func published(t *testing.T) []byte {
	t.Helper()
	s := New(nil, control.New(nil), Options{})
	raw, err := json.Marshal(s.api.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	var spec map[string]any
	if err := json.Unmarshal(raw, &spec); err != nil {
		t.Fatal(err)
	}
	schemas := spec["components"].(map[string]any)["schemas"].(map[string]any)
	docs := readDocs(t)
	for name, schema := range schemas {
		docs.describe(name, schema.(map[string]any))
	}
	names := map[string]any{}
	nameSchemas(spec, names)
	for name, schema := range names {
		s := schema.(map[string]any)
		if text := docs.types[docs.goName(name)].text; text != "" {
			s["description"] = text
		}
		schemas[name] = s
	}
	out, err := json.MarshalIndent(spec, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// nameSchemas gives marked schemas a place of their own and refers to it.
func nameSchemas(v any, found map[string]any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			nameSchemas(item, found)
		}
	case map[string]any:
		for _, item := range v {
			nameSchemas(item, found)
		}
		name, ok := v[named].(string)
		if !ok {
			return
		}
		delete(v, named)
		delete(v, "patternDescription") // for messages, and no keyword of JSON Schema
		whole := map[string]any{}
		ref := map[string]any{"$ref": "#/components/schemas/" + name}
		for key, value := range v {
			if key == "description" && name != "Duration" || key == "default" {
				ref[key] = value // of this use
				continue
			}
			whole[key] = value
		}
		if d, isField := v["x-field"].(string); isField {
			ref["description"] = d
			delete(whole, "x-field")
		}
		found[name] = whole
		clear(v)
		for key, value := range ref {
			v[key] = value
		}
	}
}

// docs are the comments of the Go types that go over the wire.
type docs struct{ types map[string]typeDoc }

type typeDoc struct {
	text   string
	fields map[string]string // JSON name -> comment
	embeds []string
}

func (d docs) goName(schema string) string {
	if schema == "ErrorCode" {
		return "Code"
	}
	return schema
}

// describe adds comments to a schema and its properties.
func (d docs) describe(name string, schema map[string]any) {
	td, ok := d.types[d.goName(name)]
	if !ok {
		return
	}
	if td.text != "" {
		schema["description"] = td.text
	}
	props, _ := schema["properties"].(map[string]any)
	for prop, s := range props {
		text := d.field(d.goName(name), prop)
		if text == "" {
			continue
		}
		p := s.(map[string]any)
		if _, marked := p[named]; marked {
			p["x-field"] = text
			continue
		}
		p["description"] = text
	}
}

func (d docs) field(typ, prop string) string {
	td := d.types[typ]
	if text, ok := td.fields[prop]; ok {
		return text
	}
	for _, e := range td.embeds {
		if text := d.field(e, prop); text != "" {
			return text
		}
	}
	return ""
}

// readDocs reads the comments of packages duly, store and api; where two have a
// type of one name, that of api counts, which is what goes over the wire.
func readDocs(t *testing.T) docs {
	t.Helper()
	d := docs{types: map[string]typeDoc{}}
	for _, dir := range []string{"../store", "..", "../api"} {
		files := token.NewFileSet()
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var parsed []*ast.File
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		pkg, err := doc.NewFromFiles(files, parsed, "example.org/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, typ := range pkg.Types {
			d.types[typ.Name] = readType(typ)
		}
	}
	return d
}

func readType(typ *doc.Type) typeDoc {
	td := typeDoc{fields: map[string]string{}}
	spec := typ.Decl.Specs[0].(*ast.TypeSpec)
	words := map[string]string{} // Go names of fields -> JSON names
	st, ok := spec.Type.(*ast.StructType)
	if ok {
		for _, f := range st.Fields.List {
			for _, name := range f.Names {
				words[name.Name] = jsonName(f)
			}
		}
		for _, f := range st.Fields.List {
			if len(f.Names) == 0 {
				td.embeds = append(td.embeds, typeName(f.Type))
				continue
			}
			text := f.Doc.Text()
			if text == "" {
				text = f.Comment.Text()
			}
			if name := jsonName(f); name != "-" {
				td.fields[name] = plain(text, words)
			}
		}
	}
	td.text = plain(typ.Doc, words)
	return td
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

func jsonName(f *ast.Field) string {
	if f.Tag == nil {
		return "-"
	}
	name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
	return name
}

var word = regexp.MustCompile(`\b[A-Z][A-Za-z]+\b`)

// plain makes one paragraph of a comment, with the names of fields as they are
// on the wire.
func plain(text string, words map[string]string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "\n\n", "\n")), " ")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "[", ""), "]", "")
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if name := words[w]; name != "" && name != "-" {
			return name
		}
		return w
	})
}

// TestEveryOperationIsDescribed holds the description to what generators of
// clients and readers of documentation need.
func TestEveryOperationIsDescribed(t *testing.T) {
	var spec struct {
		OpenAPI    string
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]map[string]any }
	}
	if err := json.Unmarshal(published(t), &spec); err != nil {
		t.Fatal(err)
	}
	if spec.OpenAPI != "3.1.0" {
		t.Errorf("openapi is %q", spec.OpenAPI)
	}
	operations := 0
	for path, item := range spec.Paths {
		for method, raw := range item {
			var op struct {
				OperationID, Summary string
				Tags                 []string
				Responses            map[string]struct {
					Content map[string]json.RawMessage
				}
			}
			if err := json.Unmarshal(raw, &op); err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			operations++
			where := method + " " + path
			if op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s: operationId %q, summary %q, tags %v: one of them is missing", where, op.OperationID, op.Summary, op.Tags)
			}
			for _, status := range []string{"422", "500", "503"} {
				if _, ok := op.Responses[status].Content["application/problem+json"]; !ok {
					t.Errorf("%s: status %s is not described as a problem", where, status)
				}
			}
		}
	}
	if operations < 30 {
		t.Errorf("only %d operations are described", operations)
	}
	for _, name := range []string{
		"Schedule", "ScheduleStatus", "ScheduleStatusList", "Occurrence", "OccurrenceList", "Attempt", "Effect", "State", "Outcome",
		"Duration", "ErrorCode", "Problem", "Claim", "Report", "Lease", "Node", "Queue", "Change", "Event",
	} {
		if spec.Components.Schemas[name] == nil {
			t.Errorf("there is no schema %s; there are %v", name, keys(spec.Components.Schemas))
		}
	}
	for name, s := range spec.Components.Schemas {
		if s["description"] == nil && !strings.HasSuffix(name, "List") {
			t.Errorf("schema %s has no description", name)
		}
	}
	if strings.Contains(string(published(t)), named) {
		t.Errorf("a mark %s is left in the description", named)
	}
}

func keys[V any](m map[string]V) string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return fmt.Sprint(all)
}
