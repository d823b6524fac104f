package duly_test

import (
	"go/build"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/duly-dev/duly"

// imports is the map of the house: which of our packages each one may import.
// Arrows point inward. A package that is not here fails the test, so that a
// new one is a decision and not an accident.
var imports = map[string][]string{
	".":                 {},
	"cron":              {"internal/edits"},
	"calendar":          {},
	"timing":            {".", "cron", "calendar"},
	"store":             {"."},
	"plan":              {".", "cron", "calendar", "timing", "store"},
	"store/storetest":   {".", "store"},
	"store/sqlite":      {".", "internal/codes", "internal/content", "internal/pacing", "store"},
	"store/postgres":    {".", "internal/codes", "internal/content", "internal/pacing", "store"},
	"target":            {"."},
	"target/exec":       {".", "target"},
	"target/http":       {".", "target"},
	"lease":             {".", "store"},
	"internal/chaos":    {},
	"internal/codes":    {"."},
	"internal/content":  {"."},
	"internal/edits":    {},
	"internal/history":  {".", "store"},
	"internal/memstore": {".", "store"},
	"internal/nesting":  {},
	"internal/pacing":   {},
	"internal/sim":      {".", "internal/memstore", "lease", "plan", "store"},
	"internal/sqldb":    {"."},
	"internal/sqltest":  {},
	"fence":             {".", "internal/sqldb"},
	"dulytest":          {".", "control", "internal/memstore", "internal/plans", "node", "plan", "store", "target"},
	"effect":            {".", "fence", "internal/sqldb"},
	"effect/pgxeffect":  {".", "effect", "internal/sqldb"},
	"internal/plans":    {".", "plan", "timing"},
	"control":           {".", "internal/plans", "plan", "store"},
	"node":              {".", "cron", "internal/plans", "lease", "plan", "store", "target"},
	"config":            {".", "calendar", "cron", "internal/edits", "internal/nesting", "plan", "store"},
	"convert":           {".", "cron", "internal/nesting", "timing"},
	"api":               {".", "store"},
	"server":            {".", "api", "control", "cron", "internal/plans", "node", "plan", "store", "timing"},
	"bench":             {".", "control", "effect", "effect/pgxeffect", "node", "plan", "store"},
	"drill":             {".", "effect", "fence", "node", "plan", "store", "target", "target/exec", "target/http"},
	"cmd/duly":          {"*"},
	"examples/invoices": {"*"},
	"examples/payments": {"*"},
	"examples/naive":    {"*"},
}

// pure packages compute and do nothing else.
var pure = []string{".", "cron", "calendar", "timing", "plan"}

// impure are the doors to the world that a pure package never opens, directly.
var impure = []string{"net", "net/http", "os", "os/exec", "database/sql", "log", "log/slog"}

func TestImportsPointInward(t *testing.T) {
	for dir, pkg := range packages(t) {
		allowed, known := imports[dir]
		if !known && strings.HasPrefix(dir, "cmd/duly/") {
			allowed, known = []string{"*"}, true
		}
		if !known {
			t.Errorf("package %s is not on the map in imports_test.go: say what it may import", dir)
			continue
		}
		for _, imp := range pkg.Imports {
			rel, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			rel = strings.TrimPrefix(rel, "/")
			if rel == "" {
				rel = "."
			}
			if !slices.Contains(allowed, "*") && !slices.Contains(allowed, rel) {
				t.Errorf("package %s imports %s, which points outward", dir, rel)
			}
		}
	}
}

func TestPurePackagesDoNoIO(t *testing.T) {
	all := packages(t)
	for _, dir := range pure {
		pkg := all[dir]
		if pkg == nil {
			t.Errorf("package %s is gone; take it off the list", dir)
			continue
		}
		for _, imp := range pkg.Imports {
			if slices.Contains(impure, imp) {
				t.Errorf("package %s imports %s, but computes only", dir, imp)
			}
		}
	}
}

// light packages link nothing besides the standard library and each other, so
// that an application which only wants its effects to happen once takes on no
// driver and no store.
var light = []string{".", "internal/sqldb", "fence", "effect"}

func TestLightPackagesNeedTheStandardLibraryOnly(t *testing.T) {
	all := packages(t)
	for _, dir := range light {
		pkg := all[dir]
		if pkg == nil {
			t.Errorf("package %s is gone; take it off the list", dir)
			continue
		}
		for _, imp := range pkg.Imports {
			rel, ours := strings.CutPrefix(imp, module)
			if rel = strings.TrimPrefix(rel, "/"); rel == "" {
				rel = "."
			}
			if ours && slices.Contains(light, rel) || !ours && !strings.Contains(imp, ".") {
				continue
			}
			t.Errorf("package %s imports %s", dir, imp)
		}
	}
}

// packages reads the imports of every package's production code.
func packages(t *testing.T) map[string]*build.Package {
	t.Helper()
	all := map[string]*build.Package{}
	err := fs.WalkDir(os.DirFS("."), ".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		name := path.Base(dir)
		if name == "testdata" || name == "node_modules" || name == "clients" || dir != "." && strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		pkg, err := build.ImportDir(dir, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		if len(pkg.GoFiles) > 0 {
			all[dir] = pkg
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
