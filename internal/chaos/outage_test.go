//go:build unix

package chaos

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqltest"
)

// TestOutages takes the store away from workers, for shorter and for longer than
// a lease.
func TestOutages(t *testing.T) {
	server := sqltest.NewOwn(t)

	t.Run("AHandlerOutlivesAnOutageThatIsShorterThanItsLease", func(t *testing.T) {
		s := newScene(t, server, "short", lease)
		w := s.worker("w")
		id := s.trigger("hold", nil)
		s.saw(w, "began", id)
		w.cut()
		time.Sleep(lease / 4)
		w.mend()
		before := s.occurrence(id).Attempts[0].LeaseUntil
		s.until("a renewal", func() bool { return s.occurrence(id).Attempts[0].LeaseUntil.After(before) })
		time.Sleep(lease) // long enough to have lost it
		o := s.dismiss(id)
		if len(o.Attempts) != 1 || o.Attempts[0].Outcome != duly.AttemptCancelled {
			t.Errorf("attempts %+v", o.Attempts)
		}
	})

	t.Run("AHandlerIsStoppedBeforeALeaseThatItCannotRenewHasRunOut", func(t *testing.T) {
		s := newScene(t, server, "long", lease)
		first := s.worker("first")
		id := s.trigger("hold", nil)
		s.saw(first, "began", id)
		first.cut()
		stopped := s.saw(first, "stopped", id)
		if !stopped.at.Before(stopped.leaseUntil) {
			t.Errorf("stopped %v after its lease had run out", stopped.at.Sub(stopped.leaseUntil))
		}
		second := s.worker("second")
		again := s.saw(second, "began", id)
		if again.attempt != 2 || !stopped.at.Before(again.at) {
			t.Errorf("attempt %d began %v after the first was stopped", again.attempt, again.at.Sub(stopped.at))
		}
		t.Logf("stopped %v before the end of the lease, and begun elsewhere %v after it", stopped.leaseUntil.Sub(stopped.at), again.at.Sub(stopped.leaseUntil))
		first.mend()
		s.logged(first, "report refused")
		o := s.dismiss(id)
		if len(o.Attempts) != 2 || o.Attempts[0].Outcome != duly.AttemptLost || o.Attempts[0].Stale == nil || o.Attempts[1].Outcome != duly.AttemptCancelled {
			t.Errorf("attempts %+v", o.Attempts)
		}
	})

	t.Run("AReportIsHeldAndTakenOnceTheStoreIsBack", func(t *testing.T) {
		s := newScene(t, server, "held", lease)
		w := s.worker("w")
		for _, c := range []struct {
			name   string
			outage time.Duration
			late   bool
		}{{"in time", lease / 2, false}, {"late", lease + lease/2, true}} {
			id := s.trigger("nap", lease.Milliseconds()/6)
			s.saw(w, "began", id)
			w.cut()
			done := s.saw(w, "done", id)
			time.Sleep(time.Until(done.at.Add(c.outage)))
			w.mend()
			o := s.ended(id)
			if o.State != duly.Succeeded || len(o.Attempts) != 1 || o.Attempts[0].Late != c.late {
				t.Errorf("%s: %s %+v", c.name, o.State, o.Attempts)
			}
		}
	})

	t.Run("AReportThatComesTooLateIsRefusedAndKept", func(t *testing.T) {
		s := newScene(t, server, "refused", lease)
		first := s.worker("first")
		id := s.trigger("nap", lease.Milliseconds()/6)
		s.saw(first, "began", id)
		first.cut()
		s.saw(first, "done", id)
		second := s.worker("second")
		s.saw(second, "began", id)
		first.mend()
		s.logged(first, "report refused")
		o := s.ended(id)
		if o.State != duly.Succeeded || len(o.Attempts) != 2 || o.Attempts[0].Stale == nil || o.Attempts[0].Stale.Outcome != duly.AttemptSucceeded {
			t.Errorf("%s %+v", o.State, o.Attempts)
		}
	})

	// No connection ends here: nothing comes back any more.
	for _, c := range []struct {
		name    string
		silence func(w *member) (end func())
	}{
		{"AServerThatHangsIsNoticed", func(*member) func() { return server.Pause() }},
		{"AWayThatSwallowsEverythingIsNoticed", func(w *member) func() { return w.swallow("upstream", "downstream") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, server, strings.ToLower(c.name), lease)
			w := s.worker("w")
			id := s.trigger("hold", nil)
			s.saw(w, "began", id)
			end := c.silence(w)
			stopped := s.saw(w, "stopped", id)
			s.logged(w, "the store does not answer")
			end()
			if !stopped.at.Before(stopped.leaseUntil) {
				t.Errorf("stopped %v after its lease had run out", stopped.at.Sub(stopped.leaseUntil))
			}
			s.logged(w, "the store answers again")
			s.until("another attempt", func() bool { return len(s.occurrence(id).Attempts) == 2 })
			s.dismiss(id)
		})
	}

	t.Run("AWorkerEndsInTimeAlthoughItsServerHangs", func(t *testing.T) {
		s := newScene(t, server, "ending", lease)
		w := newWire(t, "w", server.Addr())
		m := &member{wire: w, process: newProcess(t, order{Name: "w", Slots: 10, Store: w.url(s.database, "")})}
		m.start()
		id := s.trigger("nap", lease.Milliseconds()/6)
		s.saw(m, "began", id)
		end := w.swallow("upstream", "downstream")
		defer end()
		s.saw(m, "done", id)
		began := time.Now()
		m.end(syscall.SIGTERM) // fails where that takes too long
		t.Logf("ended within %v", time.Since(began).Round(time.Millisecond))
	})

	t.Run("ARestartOfTheServerLosesNoLease", func(t *testing.T) {
		s := newScene(t, server, "restarted", 10*lease)
		w := s.worker("w")
		id := s.trigger("hold", nil)
		s.saw(w, "began", id)
		server.Stop(syscall.SIGINT)
		server.Start()
		down := time.Now()
		before := s.occurrence(id).Attempts[0].LeaseUntil
		s.until("a renewal", func() bool { return s.occurrence(id).Attempts[0].LeaseUntil.After(before) })
		t.Logf("renewed %v after the restart", time.Since(down).Round(time.Millisecond))
		if o := s.dismiss(id); len(o.Attempts) != 1 {
			t.Errorf("attempts %+v", o.Attempts)
		}
	})
}
