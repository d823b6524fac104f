package cron

import "math/bits"

// dayRules is what the two day fields of an expression ask for.
type dayRules struct {
	anyDay     bool   // day-of-month is exactly * or ?
	anyWeekday bool   // day-of-week is exactly * or ?
	both       bool   // Options.DayAnd
	days       uint32 // bit n: day n
	fromLast   uint32 // bit n: n days before the last (L is n = 0)
	nearest    uint32 // bit n: the weekday nearest to day n (nW)
	lastWork   bool   // LW
	weekdays   uint8  // bit d: weekday d, Sunday = 0
	last       uint8  // bit d: the last weekday d of the month (dL)
	nth        [7]uint8
}

// monthTable holds the matching days of every month there can be, by its
// length less 28 and the weekday of its first day. Bit n stands for day n.
type monthTable [4][7]uint32

// table works out all 28 months. Nothing else about a month, neither its name
// nor its year, can change which of its days match.
func (r *dayRules) table() *monthTable {
	var t monthTable
	for length := 28; length <= 31; length++ {
		for first := range 7 {
			t[length-28][first] = r.month(length, first)
		}
	}
	return &t
}

// restricted reports whether both day fields limit the days.
func (r *dayRules) restricted() bool { return !r.anyDay && !r.anyWeekday }

// month joins the two day fields: with both restricted either may match, as
// POSIX has it, unless the caller asked for both.
func (r *dayRules) month(length, first int) uint32 {
	all := uint32(1)<<(length+1) - 2
	switch {
	case r.anyDay && r.anyWeekday:
		return all
	case r.anyWeekday:
		return r.monthDays(length, first) & all
	case r.anyDay:
		return r.monthWeekdays(length, first) & all
	case r.both:
		return r.monthDays(length, first) & r.monthWeekdays(length, first) & all
	}
	return (r.monthDays(length, first) | r.monthWeekdays(length, first)) & all
}

func (r *dayRules) monthDays(length, first int) uint32 {
	m := r.days
	for set := r.fromLast; set != 0; set &= set - 1 {
		if day := length - bits.TrailingZeros32(set); day >= 1 {
			m |= 1 << day
		}
	}
	for set := r.nearest; set != 0; set &= set - 1 {
		if day := bits.TrailingZeros32(set); day <= length {
			m |= 1 << nearestWeekday(day, length, first)
		}
	}
	if r.lastWork {
		m |= 1 << nearestWeekday(length, length, first)
	}
	return m
}

func (r *dayRules) monthWeekdays(length, first int) uint32 {
	var m uint32
	for d := range 7 {
		earliest := 1 + (d-first+7)%7
		if r.weekdays>>d&1 != 0 {
			for day := earliest; day <= length; day += 7 {
				m |= 1 << day
			}
		}
		for k := 1; k <= 5; k++ {
			if r.nth[d]>>k&1 != 0 {
				m |= 1 << (earliest + 7*(k-1)) // a fifth one may be cut off by the caller
			}
		}
		if r.last>>d&1 != 0 {
			m |= 1 << (earliest + (length-earliest)/7*7)
		}
	}
	return m
}

// nearestWeekday moves a Saturday to Friday and a Sunday to Monday, but never
// out of the month.
func nearestWeekday(day, length, first int) int {
	switch (first + day - 1) % 7 {
	case 6:
		if day == 1 {
			return 3
		}
		return day - 1
	case 0:
		if day == length {
			return day - 2
		}
		return day + 1
	}
	return day
}
