package history

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is how long the checker may search.
const patience = time.Minute

// Load is how much is done at once. Zero fields have defaults.
type Load struct {
	Clients int // default 5
	Ops     int // of each client; default 40
	Seed    uint64
}

func (l Load) withDefaults() Load {
	if l.Clients == 0 {
		l.Clients = 5
	}
	if l.Ops == 0 {
		l.Ops = 40
	}
	return l
}

// recorder notes operations with when they began and ended.
type recorder struct {
	began time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (r *recorder) do(client int, in any, call func() any) any {
	began := time.Since(r.began)
	out := call()
	ended := time.Since(r.began)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{ClientId: client, Input: in, Call: began.Nanoseconds(), Output: out, Return: ended.Nanoseconds()})
	return out
}

// record lets clients loose and gathers what they heard.
func record(l Load, client func(r *recorder, number int, rng *rand.Rand)) []porcupine.Operation {
	r := &recorder{began: time.Now()}
	var wg sync.WaitGroup
	for i := range l.Clients {
		wg.Go(func() { client(r, i, rand.New(rand.NewPCG(l.Seed, uint64(i)))) })
	}
	wg.Wait()
	return r.ops
}

// check answers whether a history could have come one after the other. What
// cannot be decided in time is not ok.
func check(model porcupine.Model, ops []porcupine.Operation) porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(model, ops, patience)
}
