package sim

// seedsTried is how many seeds Shrink tries for each smaller scenario. A
// smaller one draws other numbers, and what broke may need a little luck.
const seedsTried = 8

// Shrink leaves of a scenario that breaks a promise what it takes to break one:
// it drops faults, then schedules, then nodes, as long as something still
// breaks. What it answers has a seed of its own.
func Shrink(s Scenario) Scenario {
	keep := func(try Scenario) bool {
		for range seedsTried {
			if Run(try, nil).Broken != "" {
				s = try
				return true
			}
			try.Seed++
		}
		return false
	}
	for smaller := true; smaller; {
		smaller = false
		for size := max(1, len(s.Faults)/2); size >= 1; size /= 2 {
			for i := 0; i+size <= len(s.Faults); {
				try := s
				try.Faults = without(s.Faults, i, size)
				if keep(try) {
					smaller = true
				} else {
					i += size
				}
			}
		}
		for i := 0; i < len(s.Schedules) && len(s.Schedules) > 1; {
			try := s
			try.Schedules = without(s.Schedules, i, 1)
			if keep(try) {
				smaller = true
			} else {
				i++
			}
		}
		if try := s; s.Nodes > 1 {
			try.Nodes--
			smaller = keep(try) || smaller
		}
	}
	return s
}

// without is a copy that lacks some.
func without[T any](all []T, at, n int) []T {
	return append(append([]T(nil), all[:at]...), all[at+n:]...)
}
