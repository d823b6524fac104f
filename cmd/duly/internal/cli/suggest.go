package cli

import (
	"strings"

	"github.com/duly-dev/duly/internal/edits"
)

// nearest returns the candidate that was probably meant: one that begins with
// the word, or differs from it in few letters. It answers "" where none is
// near.
func nearest(word string, candidates []string) string {
	best, distance := "", len(word)/3+2
	for _, c := range candidates {
		if c == "" {
			continue
		}
		d := edits.Between(word, c)
		if len(word) > 1 && strings.HasPrefix(c, word) {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = c, d
		}
	}
	return best
}
