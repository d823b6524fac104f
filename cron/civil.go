package cron

const (
	secondsPerDay = 24 * 60 * 60

	minYear = 1970
	maxYear = 9999

	// Local seconds count from 1970-01-01T00:00:00 on the wall clock, so the
	// first one that can be due is 0 and this is the last.
	maxLocal = 253402300799
)

// daysBefore0March is the number of days from 1 March of the year 0, where
// the arithmetic below starts, to 1 January 1970.
const daysBefore0March = 719468

// dayNumber returns the days from 1970-01-01 to a proleptic Gregorian date of
// the year 1 or later.
//
// Counting years from March puts the leap day at the end, so that it moves no
// other month; the months from March on then have lengths that repeat every
// five (153 days), which the division rounds to.
func dayNumber(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	yearDays := 365*year + year/4 - year/100 + year/400
	monthDays := (153*(month-3) + 2) / 5
	return int64(yearDays + monthDays + day - 1 - daysBefore0March)
}

// civil is the inverse of dayNumber.
func civil(n int64) (year, month, day int) {
	const (
		cycle   = 146097 // days in 400 years
		century = 36524
		olympic = 1460 // days in four years, less the leap day
	)
	n += daysBefore0March
	rest := int(n % cycle)
	// Taking the leap days out first makes all years 365 days long.
	yearOfCycle := (rest - rest/olympic + rest/century - rest/(cycle-1)) / 365
	dayOfYear := rest - (365*yearOfCycle + yearOfCycle/4 - yearOfCycle/100)
	month = (5*dayOfYear + 2) / 153
	day = dayOfYear - (153*month+2)/5 + 1
	year = int(n/cycle)*400 + yearOfCycle
	if month < 10 {
		return year, month + 3, day
	}
	return year + 1, month - 9, day
}

// weekday returns the day of the week of a day number, Sunday being 0.
func weekday(n int64) int {
	return int((n + 4) % 7) // 1970-01-01 was a Thursday
}

func isLeap(year int) bool {
	return year%4 == 0 && (year%100 != 0 || year%400 == 0)
}

func monthLength(year, month int) int {
	if month == 2 {
		if isLeap(year) {
			return 29
		}
		return 28
	}
	// 31 days in odd months up to July and in even ones after it.
	return 30 + (month+month>>3)&1
}

// floorDay returns the start of the local day that holds a local second.
func floorDay(local int64) int64 {
	r := local % secondsPerDay
	if r < 0 {
		r += secondsPerDay
	}
	return local - r
}
