package edits

import "testing"

func TestBetweenCountsWhatFingersDo(t *testing.T) {
	for _, c := range []struct {
		a, b string
		n    int
	}{
		{"", "", 0},
		{"cron", "cron", 0},
		{"crno", "cron", 1},
		{"cro", "cron", 1},
		{"croon", "cron", 1},
		{"krön", "cron", 2},
		{"", "abc", 3},
		{"abc", "", 3},
		{"kitten", "sitting", 3},
		{"ab", "ba", 1},
		{"europe/belrin", "europe/berlin", 1},
	} {
		if got := Between(c.a, c.b); got != c.n {
			t.Errorf("Between(%q, %q) = %d, not %d", c.a, c.b, got, c.n)
		}
		if got := Between(c.b, c.a); got != c.n {
			t.Errorf("Between(%q, %q) = %d, not %d", c.b, c.a, got, c.n)
		}
	}
}
