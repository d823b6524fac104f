//go:build unix

package chaos

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sqltest"
)

// slowness is what is forgiven a machine that runs other tests meanwhile, under
// the race detector.
const slowness = 500 * time.Millisecond

// TestRecovery measures how soon work goes on elsewhere, from
// the end of the one worker to the start of the handler on the other.
func TestRecovery(t *testing.T) {
	server := sqltest.NewOwn(t)
	s := newScene(t, server, "recovery", lease)
	for i, c := range []struct {
		how   syscall.Signal
		limit time.Duration
	}{
		{syscall.SIGKILL, lease + time.Second},
		{syscall.SIGTERM, 100 * time.Millisecond},
		{syscall.SIGKILL, lease + time.Second},
		{syscall.SIGTERM, 100 * time.Millisecond},
		{syscall.SIGKILL, lease + time.Second},
		{syscall.SIGTERM, 100 * time.Millisecond},
	} {
		first := s.worker(fmt.Sprintf("first-%d", i))
		id := s.trigger("hold", nil)
		s.saw(first, "began", id)
		second := s.worker(fmt.Sprintf("second-%d", i))
		s.until("the second worker", func() bool { return s.lives(second) })
		gone := time.Now()
		if c.how == syscall.SIGTERM {
			first.signal(c.how)
			gone = s.saw(first, "stopped", id).at // it had been given time to finish
		} else {
			first.end(c.how)
		}
		again := s.saw(second, "began", id)
		took := again.at.Sub(gone)
		t.Logf("%v: goes on after %v", c.how, took.Round(100*time.Microsecond))
		if took > c.limit+slowness {
			t.Errorf("%v: it went on after %v, not within %v", c.how, took, c.limit)
		}
		s.dismiss(id)
		first.end(syscall.SIGKILL)
		second.end(syscall.SIGKILL)
	}
}
