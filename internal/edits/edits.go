// Package edits measures how far apart two words are, for "did you mean …?".
// What counts as near is for who asks: names of zones, keys and commands are
// mistyped in different ways.
package edits

// Between counts the letters to insert, remove or replace, and the neighbours
// to swap, that make b of a.
func Between(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i, x := range s {
		row[0] = i + 1
		for j, y := range t {
			change := last[j]
			if x != y {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x == t[j-1] && s[i-1] == y {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
