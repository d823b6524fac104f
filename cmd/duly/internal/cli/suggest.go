package cli

import "strings"

// nearest returns the candidate that was probably meant: one that begins with
// the word, or differs from it in few letters. It answers "" where none is
// near.
func nearest(word string, candidates []string) string {
	best, distance := "", len(word)/3+2
	for _, c := range candidates {
		if c == "" {
			continue
		}
		d := edits(word, c)
		if len(word) > 1 && strings.HasPrefix(c, word) {
			d = min(d, 1)
		}
		if d < distance {
			best, distance = c, d
		}
	}
	return best
}

// edits counts the letters to insert, remove or replace to turn a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
