package plan

import "time"

// jitter is how long after due an occurrence starts: spread evenly over
// 0 <= t < span, and the same on every node, since it comes from the
// occurrence's name (FNV-1a, mixed once more as its upper bits are poor).
func jitter(schedule, period string, span time.Duration) time.Duration {
	h := uint64(14695981039346656037)
	for _, part := range [...]string{schedule, "@", period} {
		for i := range len(part) {
			h = (h ^ uint64(part[i])) * 1099511628211
		}
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return time.Duration(h % uint64(span))
}
