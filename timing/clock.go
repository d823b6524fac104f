package timing

import "math/bits"

// clock is a set of times of the day: each of its hours with each of its
// minutes and seconds. The sets are bit masks and never empty.
type clock struct {
	hours            uint32
	minutes, seconds uint64
}

const (
	allHours   = 1<<24 - 1
	allMinutes = 1<<60 - 1
)

func maskOf(list []int) (mask uint64) {
	for _, n := range list {
		mask |= 1 << n
	}
	return mask
}

func (c clock) size() int {
	return bits.OnesCount32(c.hours) * bits.OnesCount64(c.minutes) * bits.OnesCount64(c.seconds)
}

func (c clock) first() int64 {
	return int64(bits.TrailingZeros32(c.hours))*3600 + c.firstInHour()
}

func (c clock) firstInHour() int64 {
	return int64(bits.TrailingZeros64(c.minutes))*60 + int64(bits.TrailingZeros64(c.seconds))
}

func (c clock) last() int64 {
	return int64(bits.Len32(c.hours)-1)*3600 + c.lastInHour()
}

func (c clock) lastInHour() int64 {
	return int64(bits.Len64(c.minutes)-1)*60 + int64(bits.Len64(c.seconds)-1)
}

// next returns the first time at or after a second of the day.
func (c clock) next(at int64) (int64, bool) {
	h, m, s := int(at/3600), int(at/60%60), int(at%60)
	if c.hours>>h&1 != 0 {
		if c.minutes>>m&1 != 0 {
			if later := c.seconds >> s; later != 0 {
				return at + int64(bits.TrailingZeros64(later)), true
			}
		}
		if later := c.minutes >> (m + 1); later != 0 {
			m += 1 + bits.TrailingZeros64(later)
			return int64(h)*3600 + int64(m)*60 + int64(bits.TrailingZeros64(c.seconds)), true
		}
	}
	if later := c.hours >> (h + 1); later != 0 {
		h += 1 + bits.TrailingZeros32(later)
		return int64(h)*3600 + c.firstInHour(), true
	}
	return 0, false
}

// prev returns the last time at or before a second of the day.
func (c clock) prev(at int64) (int64, bool) {
	h, m, s := int(at/3600), int(at/60%60), int(at%60)
	if c.hours>>h&1 != 0 {
		if c.minutes>>m&1 != 0 {
			if earlier := c.seconds & (2<<s - 1); earlier != 0 {
				return int64(h)*3600 + int64(m)*60 + int64(bits.Len64(earlier)-1), true
			}
		}
		if earlier := c.minutes & (1<<m - 1); earlier != 0 {
			m = bits.Len64(earlier) - 1
			return int64(h)*3600 + int64(m)*60 + int64(bits.Len64(c.seconds)-1), true
		}
	}
	if earlier := c.hours & (1<<h - 1); earlier != 0 {
		h = bits.Len32(earlier) - 1
		return int64(h)*3600 + c.lastInHour(), true
	}
	return 0, false
}

// nth returns the time at an index, 0 <= i < size.
func (c clock) nth(i int) int64 {
	s, m := bits.OnesCount64(c.seconds), bits.OnesCount64(c.minutes)
	return int64(nthBit(uint64(c.hours), i/(s*m)))*3600 +
		int64(nthBit(c.minutes, i/s%m))*60 + int64(nthBit(c.seconds, i%s))
}

func nthBit(mask uint64, n int) int {
	for range n {
		mask &= mask - 1
	}
	return bits.TrailingZeros64(mask)
}
