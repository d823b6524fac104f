package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/duly-dev/duly"
)

// walk calls f for every key of the file, once for each type that has it.
func walk(s *shape, f func(typeName string, key *field)) {
	seen := map[string]bool{}
	var visit func(s *shape)
	visit = func(s *shape) {
		if s.elem != nil {
			visit(s.elem)
		}
		for i := range s.fields {
			key := &s.fields[i]
			if name := s.typeName + "." + key.name; !seen[name] {
				seen[name] = true
				f(s.typeName, key)
				visit(key.shape)
			}
		}
	}
	visit(s)
}

func TestEveryKeyIsDocumentedAndNothingElseIs(t *testing.T) {
	used := map[string]bool{}
	docs := describe()
	walk(shapes(), func(typeName string, key *field) {
		if key.doc.text == "" {
			t.Errorf("%s.%s has no description", typeName, key.name)
		}
		for name, doc := range docs {
			if doc.text == key.doc.text {
				used[name] = true
			}
		}
	})
	for name := range docs {
		if !used[name] {
			t.Errorf("%s is described but is no key", name)
		}
	}
}

// The constants of the root package are the authority on closed lists.
func TestClosedListsHaveEveryConstant(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../schedule.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	walk(shapes(), func(_ string, key *field) {
		for _, value := range key.doc.enum {
			listed[value] = true
		}
	})
	found := 0
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			v := spec.(*ast.ValueSpec)
			lit, ok := v.Values[0].(*ast.BasicLit)
			if v.Type == nil || !ok || lit.Kind != token.STRING {
				continue
			}
			found++
			if value, _ := strconv.Unquote(lit.Value); !listed[value] {
				t.Errorf("%s = %q is not in the list of any key", v.Names[0].Name, value)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d constants were found; is the test looking in the right place?", found)
	}
}

// What a list offers is accepted, and what it does not offer is refused, by
// the package that owns the meaning.
func TestClosedListsAgreeWithValidate(t *testing.T) {
	set := map[string]func(*duly.Schedule, string){
		"period":           func(s *duly.Schedule, v string) { s.Period = duly.PeriodUnit(v) },
		"overlap":          func(s *duly.Schedule, v string) { s.Overlap = duly.Overlap(v) },
		"on_failure":       func(s *duly.Schedule, v string) { s.OnFailure = duly.OnFailure(v) },
		"when_unavailable": func(s *duly.Schedule, v string) { s.WhenUnavailable = duly.WhenUnavailable(v) },
	}
	nested := map[string]func(*duly.Schedule, string){
		"DST.gap":                func(s *duly.Schedule, v string) { s.DST.Gap = v },
		"DST.overlap":            func(s *duly.Schedule, v string) { s.DST.Overlap = v },
		"CatchUp.policy":         func(s *duly.Schedule, v string) { s.CatchUp.Policy = duly.CatchUpPolicy(v) },
		"CalendarRule.otherwise": func(s *duly.Schedule, v string) { s.Calendar = &duly.CalendarRule{Otherwise: v} },
		"CalendarRule.weekdays":  func(s *duly.Schedule, v string) { s.Calendar = &duly.CalendarRule{Weekdays: []string{v}} },
	}
	checked := 0
	walk(shapes().field("schedules").shape, func(typeName string, key *field) {
		if len(key.doc.enum) == 0 {
			return
		}
		apply := nested[typeName+"."+key.name]
		if typeName == "Schedule" {
			apply = set[key.name]
		}
		if apply == nil {
			t.Errorf("%s.%s has a closed list that this test does not know", typeName, key.name)
			return
		}
		checked++
		for _, value := range append(slices.Clone(key.doc.enum), "nonsense") {
			s := duly.Schedule{ID: "s", Timing: duly.Timing{Cron: "0 0 * * *"}, Target: duly.Target{Handler: "h"}}
			apply(&s, value)
			if refused := len(s.Validate()) > 0; refused != (value == "nonsense") {
				t.Errorf("%s.%s: %q: refused by Validate: %v", typeName, key.name, value, refused)
			}
		}
	})
	if checked != len(set)+len(nested) {
		t.Errorf("checked %d lists, not %d", checked, len(set)+len(nested))
	}
}

func TestTheFullExampleHasEveryKey(t *testing.T) {
	data, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := newSource("full.yaml", string(data))
	root := s.parseYAML()
	if root == nil {
		t.Fatal(s.err())
	}
	present := map[string]bool{}
	var visit func(n *node, s *shape)
	visit = func(n *node, s *shape) {
		for _, item := range n.items {
			visit(item, s.elem)
		}
		for _, e := range n.entries {
			switch {
			case s.kind == shapeDict:
				visit(e.value, s.elem)
			case s.kind == shapeObject && s.field(e.name) != nil:
				present[s.typeName+"."+e.name] = true
				visit(e.value, s.field(e.name).shape)
			}
		}
	}
	visit(root, shapes())
	walk(shapes(), func(typeName string, key *field) {
		asTiming := typeName == "Exclusion" && slices.Contains(timingKeys, key.name) // shown under timings
		if !present[typeName+"."+key.name] && !asTiming {
			t.Errorf("%s.%s is not in the example", typeName, key.name)
		}
	})
}
