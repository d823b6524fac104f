package cron

import "math/bits"

// yearSet is a set of the years 1970 to 9999; nil holds all of them.
type yearSet []uint64

const yearWords = (maxYear-minYear)/64 + 1

func (y yearSet) add(year int) { y[(year-minYear)/64] |= 1 << ((year - minYear) % 64) }

func (y yearSet) has(year int) bool {
	if y == nil {
		return true
	}
	return year >= minYear && year <= maxYear && y[(year-minYear)/64]>>((year-minYear)%64)&1 != 0
}

// next returns the first year of the set that is not before year, or one
// after maxYear.
func (y yearSet) next(year int) int {
	if y == nil || year > maxYear {
		return year
	}
	i := max(year-minYear, 0)
	word := y[i/64] >> (i % 64) << (i % 64)
	for w := i / 64; ; word = y[w] {
		if word != 0 {
			return minYear + w*64 + bits.TrailingZeros64(word)
		}
		if w++; w == len(y) {
			return maxYear + 1
		}
	}
}

// prev returns the last year of the set that is not after year, or one before
// minYear.
func (y yearSet) prev(year int) int {
	if y == nil || year < minYear {
		return year
	}
	i := min(year, maxYear) - minYear
	word := y[i/64] & (2<<(i%64) - 1)
	for w := i / 64; ; word = y[w] {
		if word != 0 {
			return minYear + w*64 + bits.Len64(word) - 1
		}
		if w--; w < 0 {
			return minYear - 1
		}
	}
}

// count returns how many years the set holds.
func (y yearSet) count() int {
	n := 0
	for _, w := range y {
		n += bits.OnesCount64(w)
	}
	return n
}
