//go:build unix

package chaos

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sqltest"
)

// member is a worker with its wire, and what is being done to it.
type member struct {
	*process
	*wire
	harming, cutting sync.Mutex
}

// mischief does faults to nodes and servers, by a seeded random. What it draws
// does not depend on what its faults do, so that a seed means the same faults
// each time.
type mischief struct {
	t       testing.TB
	rnd     *rand.Rand
	members []*member
	primary *sqltest.Own // owned by server
	standby *sqltest.Own
	server  sync.Mutex
	doing   sync.WaitGroup
	began   time.Time

	mu    sync.Mutex
	diary []string
	done  map[string]int
}

func (m *mischief) note(kind, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done[kind]++
	m.diary = append(m.diary, fmt.Sprintf("%7.3fs %s %s", time.Since(m.began).Seconds(), kind, fmt.Sprintf(format, args...)))
}

// between draws a duration.
func (m *mischief) between(a, b time.Duration) time.Duration {
	return a + time.Duration(m.rnd.Int64N(int64(b-a)))
}

// rage does faults for a while, then waits until all is well again. Servers are
// replaced at least once, and restarted.
func (m *mischief) rage(d time.Duration) {
	replace, restart := d/4+m.between(0, d/8), d/2+m.between(0, d/8)
	m.doing.Go(func() { time.Sleep(replace); m.failOver(syscall.SIGKILL) })
	m.doing.Go(func() { time.Sleep(restart); m.restart(syscall.SIGINT) })
	for time.Since(m.began) < d {
		m.once()
		time.Sleep(m.between(50*time.Millisecond, 1200*time.Millisecond))
	}
	m.doing.Wait()
}

// once does one fault. Whatever is drawn is drawn here.
func (m *mischief) once() {
	w := m.members[m.rnd.IntN(len(m.members))]
	kind, style := m.rnd.IntN(100), m.rnd.IntN(6)
	short, long := m.between(20*time.Millisecond, lease), m.between(lease/2, 3*lease)
	span := short
	if m.rnd.IntN(3) == 0 {
		span = long
	}
	switch {
	case kind < 25:
		m.doing.Go(func() { m.kill(w, syscall.SIGKILL, span) })
	case kind < 32:
		m.doing.Go(func() { m.kill(w, syscall.SIGTERM, span) })
	case kind < 52:
		m.doing.Go(func() { m.stop(w, span) })
	case kind < 95:
		m.doing.Go(func() { m.cut(w, style, span) })
	case kind < 97:
		m.doing.Go(func() { m.failOver([]syscall.Signal{syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGINT}[style%3]) })
	case kind < 99:
		m.doing.Go(func() { m.restart([]syscall.Signal{syscall.SIGQUIT, syscall.SIGINT}[style%2]) })
	default:
		m.doing.Go(func() { m.hang(span) })
	}
}

func (m *mischief) kill(w *member, how syscall.Signal, span time.Duration) {
	if !w.harming.TryLock() {
		return
	}
	defer w.harming.Unlock()
	m.note(how.String(), "%s, back after %v", w.order.Name, span)
	w.end(how)
	time.Sleep(span)
	w.start()
}

func (m *mischief) stop(w *member, span time.Duration) {
	if !w.harming.TryLock() {
		return
	}
	defer w.harming.Unlock()
	m.note("pause", "%s for %v", w.order.Name, span)
	w.signal(syscall.SIGSTOP)
	time.Sleep(span)
	w.signal(syscall.SIGCONT)
}

func (m *mischief) cut(w *member, style int, span time.Duration) {
	if !w.cutting.TryLock() {
		return
	}
	defer w.cutting.Unlock()
	var mend func()
	switch style {
	case 0:
		m.note("cut", "%s at once", w.order.Name)
		w.cut()
		w.mend()
		return
	case 1, 2:
		m.note("cut", "%s for %v", w.order.Name, span)
		w.cut()
		mend = w.mend
	case 3:
		m.note("swallow", "%s both ways for %v", w.order.Name, span)
		mend = w.swallow("upstream", "downstream")
	case 4:
		m.note("swallow", "%s the answers for %v", w.order.Name, span)
		mend = w.swallow("downstream")
	default:
		m.note("delay", "%s for %v", w.order.Name, span)
		mend = w.delay(200 * time.Millisecond)
	}
	time.Sleep(span)
	mend()
}

// failOver ends the primary for good, promotes its standby, and gives that a
// new one.
func (m *mischief) failOver(how syscall.Signal) {
	m.server.Lock()
	defer m.server.Unlock()
	m.note("fail-over", "after %v", how)
	m.primary.Stop(how)
	m.standby.Promote()
	m.primary.Follow(m.standby)
	m.primary, m.standby = m.standby, m.primary
	m.note("standby", "is up again")
}

func (m *mischief) restart(how syscall.Signal) {
	m.server.Lock()
	defer m.server.Unlock()
	m.note("restart", "after %v", how)
	m.primary.Stop(how)
	m.primary.Start()
}

func (m *mischief) hang(span time.Duration) {
	m.server.Lock()
	defer m.server.Unlock()
	m.note("hang", "the primary for %v", span)
	resume := m.primary.Pause()
	time.Sleep(span)
	resume()
}
