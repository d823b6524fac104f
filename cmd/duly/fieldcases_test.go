package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
)

// The field cases are failures that people met with other schedulers, played
// again with real `duly serve` processes and real signals. Times are scaled
// down, and each test says by how much.

// slack is what a busy machine may add to the bounds below.
const slack = 4 * time.Second

// B16: a deploy covered the exact minute of a daily schedule, so it never ran
// that day. Down from 1 s before until 6 s after, for 14:57 until 15:03.
func TestFieldCase_B16(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	due := time.Now().UTC().Truncate(time.Second).Add(4 * time.Second)
	var file strings.Builder
	file.WriteString("schedules:\n")
	for _, policy := range []string{"latest", "all", "none"} {
		fmt.Fprintf(&file, "  %s: { cron: \"%d %d %d * * *\", catch_up: { policy: %s }, target: { exec: { command: [\"true\"] } } }\n",
			policy, due.Second(), due.Minute(), due.Hour(), policy)
	}
	s.write("duly.yaml", file.String(), 0o644)
	p, _ := s.serve("-f", "duly.yaml")
	if !time.Now().Before(due) {
		t.Fatal("the machine is too slow for this case: the server was up only after the due time")
	}
	_ = p.kill()
	time.Sleep(time.Until(due.Add(6 * time.Second)))
	_, _ = s.serve()

	for _, policy := range []string{"latest", "all"} {
		eventually(t, readyWithin, policy+" is caught up", func() bool { return len(s.succeeded(policy)) == 1 })
		o := s.occurrences(policy)[0]
		if !o.Due.Equal(due) || o.Origin != duly.OriginCatchUp {
			t.Errorf("%s: due %v by %s, want %v by catch_up", policy, o.Due, o.Origin, due)
		}
		if late := o.CreatedAt.Sub(o.Due); late < 6*time.Second {
			t.Errorf("%s: its lateness is told as %v", policy, late)
		}
	}
	none := s.occurrences("none")
	if len(none) != 1 || none[0].State != duly.Missed || none[0].Count != 1 || len(none[0].Attempts) != 0 {
		t.Errorf("none: %+v", none)
	}
}

// B17: after some minutes of sleep an every-minute schedule did neither what
// was promised nor what was wanted. Every 12 s instead of every minute, down for
// three times and until 6 s after the last: later than what counts as on time,
// and early enough for a slow start before the next.
func TestFieldCase_B17(t *testing.T) {
	t.Parallel()
	const every, lost = 12 * time.Second, 3
	s := newSite(t)
	anchor := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	var file strings.Builder
	file.WriteString("schedules:\n")
	for _, policy := range []string{"latest", "all", "none"} {
		fmt.Fprintf(&file, "  %s: { every: 12s, anchor: %s, period: instant, catch_up: { policy: %s }, target: { exec: { command: [\"true\"] } } }\n",
			policy, anchor.Format(time.RFC3339), policy)
	}
	s.write("duly.yaml", file.String(), 0o644)
	p, _ := s.serve("-f", "duly.yaml")
	eventually(t, readyWithin, "the first one is done everywhere", func() bool {
		return len(s.succeeded("all")) == 1 && len(s.succeeded("latest")) == 1 && len(s.succeeded("none")) == 1
	})
	_ = p.kill()
	first := s.occurrences("all")[0].Due
	last := first.Add(lost * every)
	time.Sleep(time.Until(last.Add(6 * time.Second)))
	_, _ = s.serve()

	during := func(schedule string) (missed, run int) {
		for _, o := range s.occurrences(schedule) {
			switch {
			case !o.Due.After(first) || o.Due.After(last):
			case o.State == duly.Missed:
				missed += o.Count
			case o.State == duly.Succeeded && o.Origin == duly.OriginCatchUp:
				run++
			}
		}
		return missed, run
	}
	for policy, want := range map[string][2]int{"none": {3, 0}, "latest": {2, 1}, "all": {0, 3}} {
		eventually(t, readyWithin, fmt.Sprintf("%s: missed and run are %v", policy, want), func() bool {
			missed, run := during(policy)
			return [2]int{missed, run} == want
		})
	}
	latest := s.occurrences("latest")
	if o := latest[lost]; !o.Due.Equal(last) || o.State != duly.Succeeded {
		t.Errorf("latest ran for %v (%s), want %v", o.Due, o.State, last)
	}
	var order []time.Time
	for _, o := range s.occurrences("all")[1 : 1+lost] {
		order = append(order, o.Attempts[0].StartedAt)
	}
	for i := 1; i < len(order); i++ {
		if order[i].Before(order[i-1]) {
			t.Errorf("all: caught up out of order: %v", order)
		}
	}
	// And it goes on.
	eventually(t, readyWithin, "the next one is done on time", func() bool {
		for _, o := range s.succeeded("none") {
			if o.Due.Equal(last.Add(every)) && o.Origin == duly.OriginSchedule {
				return true
			}
		}
		return false
	})
}

// B21: a process died between taking the next time and writing it back, and
// the schedule went quiet. Three servers, a schedule of every second for 20 s
// instead of every minute for 30 min; every 2 s one of them is killed.
func TestFieldCase_B21(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", everySecond("beat", "    overlap: allow\n    catch_up: { policy: all }\n    lease: 2s\n", "true"), 0o644)
	servers := make([]*process, 3)
	clients := make([]*api.Client, 3)
	for i := range servers {
		servers[i], clients[i] = s.serve("-f", "duly.yaml", "--name", fmt.Sprintf("server-%d", i))
	}
	began := time.Now()
	for time.Since(began) < 20*time.Second {
		victim := rand.IntN(len(servers))
		_ = servers[victim].kill()
		witness := clients[(victim+1)%len(clients)]
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			status, err := witness.Schedule(t.Context(), "beat")
			if err != nil {
				t.Fatal(err)
			}
			if late := time.Since(status.NextDue); late > 3*time.Second {
				t.Errorf("while two servers live, the next due time is %v ago", late)
			}
		}
		servers[victim], clients[victim] = s.serve("--name", fmt.Sprintf("server-%d", victim))
	}
	end := time.Now().Add(-slack)
	eventually(t, readyWithin, "all of it is done", func() bool {
		for _, o := range s.occurrences("beat") {
			if o.Due.Before(end) && o.State != duly.Succeeded {
				return false
			}
		}
		return true
	})
	all := s.occurrences("beat")
	if len(all) < 20 {
		t.Errorf("%d occurrences in 20 s", len(all))
	}
	consecutive(t, all)
}

// B37: the server restarted while an occurrence ran that forbids overlap; it
// stayed "running" for ever. A tenth of the time: every second, 5 s of work,
// a lease of 1.5 s, killed half a second in.
func TestFieldCase_B37(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", everySecond("slow", "    overlap: skip\n    lease: 1500ms\n", "touch began; sleep 5"), 0o644)
	p, _ := s.serve("-f", "duly.yaml")
	eventually(t, readyWithin, "the command begins", s.began)
	time.Sleep(500 * time.Millisecond)
	_ = p.kill()
	killed := time.Now()
	_, _ = s.serve()

	var again time.Time
	eventually(t, readyWithin, "the lost attempt is followed by another", func() bool {
		for _, o := range s.occurrences("slow") {
			if len(o.Attempts) > 1 && o.Attempts[0].Outcome == duly.AttemptLost {
				again = o.Attempts[1].StartedAt
				return true
			}
		}
		return false
	})
	if took := again.Sub(killed); took > 1700*time.Millisecond+slack {
		t.Errorf("work went on %v after the kill", took)
	}
	for _, o := range s.occurrences("slow") {
		if o.State == duly.Skipped && !strings.Contains(o.Reason, "overlap") {
			t.Errorf("%s is skipped without saying why: %q", o.ID, o.Reason)
		}
	}
}

// B38: after a server died, another started work that was still going on. A
// twentieth of the time: every second, 4 s of work that forbids overlap; the
// server that does not do it is killed.
func TestFieldCase_B38(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	work := `echo + >> active; sleep 4; echo - >> active; touch began`
	s.write("duly.yaml", everySecond("slow", "    overlap: skip\n    lease: 2s\n", work), 0o644)
	servers := map[string]*process{}
	for _, name := range []string{"a", "b"} {
		servers[name], _ = s.serve("-f", "duly.yaml", "--name", name)
	}
	var at string
	eventually(t, readyWithin, "it runs somewhere", func() bool {
		for _, o := range s.occurrences("slow") {
			if o.State == duly.Running {
				at = o.Attempts[0].Node
			}
		}
		return at != ""
	})
	_ = servers[map[string]string{"a": "b", "b": "a"}[at]].kill()
	eventually(t, readyWithin, "it ends, and a later one begins", func() bool {
		return len(s.succeeded("slow")) >= 1 && strings.Count(s.read("active"), "+") >= 2
	})

	active := 0
	for _, step := range strings.Fields(s.read("active")) {
		if step == "+" {
			active++
		} else {
			active--
		}
		if active > 1 {
			t.Fatalf("two at once: %q", s.read("active"))
		}
	}
	skipped := 0
	for _, o := range s.occurrences("slow") {
		if o.State == duly.Skipped && strings.Contains(o.Reason, "overlap") {
			skipped += o.Count
		}
	}
	if skipped < 2 {
		t.Errorf("%d times are recorded as skipped for overlap in 4 s, want at least 2", skipped)
	}
}

func (s *site) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(data)
}

// B46: a killed pod left its work "running" until a 6-hour timeout. The lease
// is 3 s instead of 30 s, the kill comes after 1 s instead of 10 s.
func TestFieldCase_B46(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("duly.yaml", onDemand("long", "    timeout: 6h\n    lease: 3s\n", longAtFirst), 0o644)
	p, client := s.serve("-f", "duly.yaml", "--name", "a")
	id := s.triggered(client, "long")
	_, client = s.serve("--name", "b")
	time.Sleep(time.Second)
	_ = p.kill()
	killed := time.Now()

	eventually(t, readyWithin, "attempt 2 starts", func() bool { return len(s.occurrence(client, id).Attempts) == 2 })
	if took := s.occurrence(client, id).Attempts[1].StartedAt.Sub(killed); took > 3500*time.Millisecond+slack {
		t.Errorf("attempt 2 started %v after the kill", took)
	}
}
