package sim

// ledger is the application's database: rows of business, keys of effects and
// the tokens that its resources have seen. Every call is one transaction.
type ledger struct {
	w       *world
	seen    map[string]int64 // by resource, what the fence has seen
	keys    map[string]bool
	rows    map[string]int   // by key, how often the effect has really happened
	newest  map[string]int64 // by resource, what the checker has seen
	created int
	reused  int
}

func newLedger() *ledger {
	return &ledger{seen: map[string]int64{}, keys: map[string]bool{}, rows: map[string]int{}, newest: map[string]int64{}}
}

// effect makes an effect once. stale means that the fence has refused it.
func (l *ledger) effect(resource string, token int64, key string) (reused, stale bool) {
	if token < l.seen[resource] && l.w.sc.Bug != EffectWithoutFence {
		return false, true
	}
	l.seen[resource] = max(l.seen[resource], token)
	if token < l.newest[resource] {
		l.w.broken("%s was written under token %d after %d was seen there", resource, token, l.newest[resource])
	}
	l.newest[resource] = token
	if l.keys[key] && l.w.sc.Bug != LedgerWithoutKey {
		l.reused++
		return true, false
	}
	l.keys[key] = true
	l.created++
	if l.rows[key]++; l.rows[key] > 1 {
		l.w.broken("the effect of %s has happened %d times", key, l.rows[key])
	}
	return false, false
}
