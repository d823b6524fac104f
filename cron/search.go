package cron

import "math/bits"

// NextWall returns the first matching local second at or after local.
func (e *Expr) NextWall(local int64) (int64, bool) {
	local = max(local, 0)
	if local > maxLocal {
		return 0, false
	}
	n, clock := local/secondsPerDay, int(local%secondsPerDay)
	year, month, day := civil(n)
	if e.hasMonth(year, month) {
		mask := e.month(year, month, n-int64(day-1))
		if mask>>day&1 != 0 {
			if c, ok := e.nextClock(clock); ok {
				return n*secondsPerDay + int64(c), true
			}
		}
		if later := mask >> (day + 1); later != 0 {
			n += int64(1 + bits.TrailingZeros32(later))
			return n*secondsPerDay + int64(e.firstClock), true
		}
	}
	for {
		later := e.months >> (month + 1)
		if later == 0 {
			year, month = e.years.next(year+1), 0
			if year > maxYear {
				return 0, false
			}
			continue
		}
		month += 1 + bits.TrailingZeros16(later)
		if !e.years.has(year) {
			month = 12
			continue
		}
		first := dayNumber(year, month, 1)
		if mask := e.month(year, month, first); mask != 0 {
			n = first + int64(bits.TrailingZeros32(mask)) - 1
			return n*secondsPerDay + int64(e.firstClock), true
		}
	}
}

// PrevWall returns the last matching local second at or before local.
func (e *Expr) PrevWall(local int64) (int64, bool) {
	local = min(local, maxLocal)
	if local < 0 {
		return 0, false
	}
	n, clock := local/secondsPerDay, int(local%secondsPerDay)
	year, month, day := civil(n)
	if e.hasMonth(year, month) {
		mask := e.month(year, month, n-int64(day-1))
		if mask>>day&1 != 0 {
			if c, ok := e.prevClock(clock); ok {
				return n*secondsPerDay + int64(c), true
			}
		}
		if earlier := mask & (1<<day - 1); earlier != 0 {
			n -= int64(day - (bits.Len32(earlier) - 1))
			return n*secondsPerDay + int64(e.lastClock), true
		}
	}
	for {
		earlier := e.months & (1<<month - 1)
		if earlier == 0 {
			year, month = e.years.prev(year-1), 13
			if year < minYear {
				return 0, false
			}
			continue
		}
		month = bits.Len16(earlier) - 1
		if !e.years.has(year) {
			month = 1
			continue
		}
		first := dayNumber(year, month, 1)
		if mask := e.month(year, month, first); mask != 0 {
			n = first + int64(bits.Len32(mask)) - 2
			return n*secondsPerDay + int64(e.lastClock), true
		}
	}
}

func (e *Expr) hasMonth(year, month int) bool {
	return e.months>>month&1 != 0 && e.years.has(year)
}

// month returns the matching days of a month whose first day has the given
// number.
func (e *Expr) month(year, month int, first int64) uint32 {
	return e.days[monthLength(year, month)-28][weekday(first)]
}

// nextClock returns the first matching second of the day at or after clock.
func (e *Expr) nextClock(clock int) (int, bool) {
	h, m, s := clock/3600, clock/60%60, clock%60
	if e.hours>>h&1 != 0 {
		if e.minutes>>m&1 != 0 {
			if later := e.seconds >> s; later != 0 {
				return clock + bits.TrailingZeros64(later), true
			}
		}
		if later := e.minutes >> (m + 1); later != 0 {
			m += 1 + bits.TrailingZeros64(later)
			return h*3600 + m*60 + bits.TrailingZeros64(e.seconds), true
		}
	}
	if later := e.hours >> (h + 1); later != 0 {
		h += 1 + bits.TrailingZeros32(later)
		return h*3600 + e.firstClock%3600, true
	}
	return 0, false
}

// prevClock returns the last matching second of the day at or before clock.
func (e *Expr) prevClock(clock int) (int, bool) {
	h, m, s := clock/3600, clock/60%60, clock%60
	if e.hours>>h&1 != 0 {
		if e.minutes>>m&1 != 0 {
			if earlier := e.seconds & (2<<s - 1); earlier != 0 {
				return h*3600 + m*60 + bits.Len64(earlier) - 1, true
			}
		}
		if earlier := e.minutes & (1<<m - 1); earlier != 0 {
			m = bits.Len64(earlier) - 1
			return h*3600 + m*60 + bits.Len64(e.seconds) - 1, true
		}
	}
	if earlier := e.hours & (1<<h - 1); earlier != 0 {
		h = bits.Len32(earlier) - 1
		return h*3600 + e.lastClock%3600, true
	}
	return 0, false
}
