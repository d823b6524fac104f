package target_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly/target"
)

func TestEveryVariableIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/targets.md")
	if err != nil {
		t.Fatal(err)
	}
	all := target.Variables(target.Assignment{
		Unowned: true, IntervalStart: time.Unix(1, 0), LeaseUntil: func() time.Time { return time.Unix(2, 0) },
	})
	if len(all) < 13 {
		t.Fatalf("only %d variables", len(all))
	}
	for _, v := range all {
		words := strings.Split(strings.ToLower(v.Name), "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		header := strings.Join(words, "-")
		field := strings.ToLower(strings.TrimPrefix(v.Name, "DULY_"))
		row := "| `" + v.Name + "` | `" + header + "`"
		if !strings.Contains(string(page), row) || !strings.Contains(string(page), "| `"+field+"` |") {
			t.Errorf("docs/targets.md has no row for %s, %s and %s", v.Name, header, field)
		}
	}
}
