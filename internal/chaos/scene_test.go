//go:build unix

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
)

// scene is a store for one fault, on a server that has room for several.
type scene struct {
	t        testing.TB
	server   *sqltest.Own
	database string
	st       store.Store
	ctl      *control.Control
}

// newScene makes a database with schedules that wait to be triggered: "hold"
// works until it is told to stop, "nap" for as long as its payload says.
func newScene(t testing.TB, server *sqltest.Own, database string, lease time.Duration) *scene {
	t.Helper()
	server.Exec("CREATE DATABASE " + database)
	s := &scene{t: t, server: server, database: database}
	s.reopen()
	var all []duly.Schedule
	for _, handler := range []string{"hold", "nap"} {
		all = append(all, duly.Schedule{
			ID: handler, Timing: duly.Timing{Cron: "0 0 1 1 *"}, Lease: duly.Duration(lease), Target: duly.Target{Handler: handler},
			Retry: duly.Retry{MaxAttempts: 100, Backoff: duly.Duration(time.Millisecond), MaxBackoff: duly.Duration(10 * time.Millisecond)},
		})
	}
	if _, err := s.ctl.Apply(context.Background(), control.ApplyRequest{Owner: "chaos", By: "chaos", Schedules: all}); err != nil {
		t.Fatal(err)
	}
	return s
}

// reopen opens the store on the scene's server.
func (s *scene) reopen() {
	s.t.Helper()
	st, err := store.Open(context.Background(), s.direct(), store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { st.Close() })
	s.st, s.ctl = st, control.New(st)
}

func (s *scene) direct() string { return "postgres://postgres@" + s.server.Addr() + "/" + s.database }

// worker starts a worker whose way to the server leads over a wire.
func (s *scene) worker(name string) *member {
	s.t.Helper()
	w := newWire(s.t, name, s.server.Addr())
	m := &member{wire: w, process: newProcess(s.t, order{Name: name, Slots: 10, Store: w.url(s.database, "&statement_timeout=2s")})}
	m.start()
	return m
}

// trigger asks for an occurrence.
func (s *scene) trigger(schedule string, payload any) (id string) {
	s.t.Helper()
	text, err := json.Marshal(payload)
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := s.ctl.Trigger(context.Background(), control.TriggerRequest{Schedule: schedule, By: "chaos", Payload: text})
	if err != nil {
		s.t.Fatal(err)
	}
	return made.ID
}

// until waits for something.
func (s *scene) until(what string, came func() bool) {
	s.t.Helper()
	for late := time.Now().Add(patience); !came(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// event is a line of say.
type event struct {
	at, leaseUntil time.Time
	attempt        int
}

// saw waits until a worker says that something happened to an occurrence, and
// answers the first time of it.
func (s *scene) saw(m *member, what, id string) (e event) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q of %s on %s", what, id, m.order.Name), func() bool {
		lines := m.said.lines(what + " " + id)
		if len(lines) == 0 || !bytes.HasPrefix(lines[0], []byte(what)) {
			return false
		}
		var at, until int64
		if _, err := fmt.Sscanf(string(lines[0]), what+" "+id+" %d %d %d", &e.attempt, &at, &until); err != nil {
			s.t.Fatalf("%s: %v", lines[0], err)
		}
		e.at, e.leaseUntil = time.Unix(0, at), time.Unix(0, until)
		return true
	})
	return e
}

// logged waits for a word in a worker's log.
func (s *scene) logged(m *member, word string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q in the log of %s", word, m.order.Name), func() bool { return len(m.log.lines(word)) > 0 })
}

// ended waits for the end of an occurrence.
func (s *scene) ended(id string) (o duly.Occurrence) {
	s.t.Helper()
	s.until("the end of "+id, func() bool { o = s.occurrence(id); return !o.State.Open() })
	return o
}

func (s *scene) occurrence(id string) duly.Occurrence {
	s.t.Helper()
	o, err := s.st.Occurrence(context.Background(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return o
}

// dismiss ends an occurrence that is held, and waits until its worker heard.
func (s *scene) dismiss(id string) duly.Occurrence {
	s.t.Helper()
	if err := s.ctl.Cancel(context.Background(), id, "chaos", "enough"); err != nil {
		s.t.Fatal(err)
	}
	return s.ended(id)
}

// lives reports whether a worker has joined.
func (s *scene) lives(m *member) bool {
	s.t.Helper()
	nodes, err := s.st.NodeList(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, n := range nodes {
		if n.Name == m.order.Name && n.State == "live" {
			return true
		}
	}
	return false
}
