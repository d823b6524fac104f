package node

import (
	"sync"
	"time"
)

// clock relates the process's clock to the store's. It is only ever used to
// choose how long to sleep and to report an offset: deadlines of leases are
// counted on the monotonic clock from before the store was asked.
type clock struct {
	mu     sync.Mutex
	offset time.Duration // store minus process
	known  bool
	wrong  time.Duration // see Options.ClockError
}

// process is the process's clock, as wrong as a drill wants it.
func (c *clock) process(at time.Time) time.Time { return at.Round(0).Add(c.wrong) }

// observe takes a reading: the store said now somewhere between asked and
// answered. It answers by how much the offset jumped since the last one. What
// the time in between can explain is no jump: an answer that was long on its
// way says little about the clocks.
func (c *clock) observe(asked, answered, now time.Time) (jump time.Duration) {
	offset := now.Sub(c.process(asked.Add(answered.Sub(asked) / 2)))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		if jump = offset - c.offset; jump.Abs() <= answered.Sub(asked)/2 {
			return 0
		}
	}
	c.offset, c.known = offset, true
	return jump
}

// until is how long to sleep for the store's clock to reach t.
func (c *clock) until(t time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return t.Sub(c.process(time.Now()).Add(c.offset))
}

// now estimates the store's clock.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process(time.Now()).Add(c.offset)
}

// Offset is the process's clock minus the store's.
func (c *clock) lead() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return -c.offset
}
