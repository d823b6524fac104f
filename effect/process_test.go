//go:build unix

package effect_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly/effect"
)

// process is another process of this test binary.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string
}

// patience is how long a process may take for a step, on a busy machine.
const patience = 30 * time.Second

func spawn(t testing.TB, role string, p part) *process {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	proc := &process{t: t, cmd: exec.Command(exe), lines: make(chan string, 100)}
	proc.cmd.Env = append(os.Environ(), roleVariable+"="+role, partVariable+"="+string(data))
	proc.cmd.Stderr = os.Stderr
	if proc.in, err = proc.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := proc.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(proc.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			proc.lines <- s.Text()
		}
	}()
	t.Cleanup(proc.kill)
	return proc
}

// worker starts an attempt.
func (r *rig) worker(t testing.TB, role string, p part) *process {
	p.Database, p.Rig = r.Database, r.name
	if p.Key == "" {
		p.Key = "invoice/7/2027-01"
	}
	return spawn(t, role, p)
}

// await reads what the process says until a line begins so, and answers the rest
// of it.
func (p *process) await(prefix string) string {
	p.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the process ended without saying %q", prefix)
			}
			if rest, found := strings.CutPrefix(line, prefix); found {
				return strings.TrimSpace(rest)
			}
		case <-timeout:
			p.t.Fatalf("the process does not come to say %q", prefix)
		}
	}
}

// want awaits its result.
func (p *process) want(result string) {
	p.t.Helper()
	if got := p.await("result"); !strings.HasPrefix(got, result) {
		p.t.Errorf("the process ends with %q, want %q", got, result)
	}
}

// resume lets a process that waits at a point go on.
func (p *process) resume() {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in); err != nil {
		p.t.Error(err)
	}
}

func (p *process) signal(sig syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		p.t.Error(err)
	}
	if sig != syscall.SIGSTOP {
		return
	}
	// It stops when each of its threads has come by, and could hear of what the
	// test does next.
	for {
		state, err := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(p.cmd.Process.Pid)).Output()
		if err != nil {
			p.t.Fatal(err)
		}
		if strings.HasPrefix(strings.TrimSpace(string(state)), "T") {
			return
		}
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// B83 (a), and the crash inside the transaction.
func TestB83_KilledBeforeTheCommitTheRetryHasTheOneEffect(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		first := r.worker(t, "do", part{Attempt: 1, Pause: "inside"})
		first.await("at inside")
		first.kill()
		r.worker(t, "do", part{Attempt: 2}).want("created")
		r.want(t, 1, 1)
		r.wantEntry(t, "invoice/7/2027-01", effect.Done, 2)
	})
}

// B83 (b): the write happened, and nobody was told.
func TestB83_KilledAfterTheCommitTheRetryFindsTheEffect(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		first := r.worker(t, "do", part{Attempt: 1, Pause: "done"})
		first.await("at done")
		first.kill()
		r.worker(t, "do", part{Attempt: 2}).want("reused")
		r.want(t, 1, 1)
		r.wantEntry(t, "invoice/7/2027-01", effect.Done, 1)
	})
}

// B48: paused past its lease, while the next owner finishes.
func TestB48_APausedWorkersLateWriteIsRefusedByTheFence(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		a := r.worker(t, "do", part{Attempt: 1, Pause: "start"})
		a.await("at start")
		a.signal(syscall.SIGSTOP)
		a.resume() // it goes on at once when it is continued
		r.worker(t, "do", part{Attempt: 2}).want("created")
		a.signal(syscall.SIGCONT)
		a.want("stale_token")
		r.want(t, 1, 1)
		r.wantEntry(t, "invoice/7/2027-01", effect.Done, 2)
	})
}

// The fence guards all that its resource covers, not only the same key.
func TestB48_TheFenceRefusesOtherKeysOfAPausedWorkerToo(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		a := r.worker(t, "do", part{Attempt: 1, Pause: "start", Key: "invoice/8/2027-01"})
		a.await("at start")
		a.signal(syscall.SIGSTOP)
		a.resume()
		r.worker(t, "do", part{Attempt: 2}).want("created")
		a.signal(syscall.SIGCONT)
		a.want("stale_token")
		r.want(t, 1, 1)
	})
}

// Before the new owner's first write the fence knows nothing of it: there the
// business key makes one effect of two attempts.
func TestB48_WhereTheNewWorkerHasNotWrittenItFindsTheLateWrite(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		a := r.worker(t, "do", part{Attempt: 1, Pause: "start"})
		a.await("at start")
		a.signal(syscall.SIGSTOP)
		a.resume()
		b := r.worker(t, "do", part{Attempt: 2, Pause: "start"})
		b.await("at start")
		a.signal(syscall.SIGCONT)
		a.want("created")
		b.resume()
		b.want("reused")
		r.want(t, 1, 1)
	})
}

// A worker that is paused inside its transaction holds the fence: the next owner
// waits for its end instead of writing beside it.
func TestB48_AWorkerPausedInsideItsTransactionIsWaitedFor(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		a := r.worker(t, "do", part{Attempt: 1, Pause: "inside"})
		a.await("at inside")
		a.signal(syscall.SIGSTOP)
		a.resume()
		b := r.worker(t, "do", part{Attempt: 2})
		b.await("at start")
		r.awaitBlocked(t, 1)
		a.signal(syscall.SIGCONT)
		a.want("created")
		b.want("reused")
		r.want(t, 1, 1)
	})
}

// B52: code that ignores its cancellation goes on as a zombie.
func TestB52_EachZombiesEffectIsRefused(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var zombies []*process
		for attempt := 1; attempt <= 4; attempt++ {
			z := r.worker(t, "do", part{Attempt: attempt, Pause: "start", Key: fmt.Sprintf("invoice/%d/2027-01", attempt)})
			z.await("at start")
			zombies = append(zombies, z)
		}
		r.worker(t, "do", part{Attempt: 5}).want("created")
		for _, z := range zombies {
			z.resume()
			z.want("stale_token")
		}
		r.want(t, 1, 1)
	})
}

func TestProcessesAtTheSameMomentHaveOneEffect(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var all []*process
		for range 6 {
			p := r.worker(t, "do", part{Attempt: 1, Pause: "start"})
			p.await("at start")
			all = append(all, p)
		}
		for _, p := range all {
			p.resume()
		}
		made := 0
		for _, p := range all {
			if got := p.await("result"); got == "created" {
				made++
			} else if got != "reused" {
				t.Errorf("a process ends with %q", got)
			}
		}
		if made != 1 {
			t.Errorf("%d called it created", made)
		}
		r.want(t, 1, 1)
	})
}

// B84: every customer has a business key of their own.
func TestB84_ABatchKilledHalfWayIsGoneOnWith(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		first := r.worker(t, "batch", part{Attempt: 1, Every: 1, Pause: "half"})
		first.await("at half")
		first.kill()
		r.want(t, 250, 250)
		r.worker(t, "batch", part{Attempt: 2}).want("250 created, 250 reused")
		r.want(t, 500, 500)
		if n := r.number(t, "SELECT count(DISTINCT customer) FROM invoices"); n != 500 {
			t.Errorf("%d customers have an invoice", n)
		}
	})
}

func TestABatchKilledAtRandomMomentsEndsComplete(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		attempt := 1
		for ; attempt <= 12; attempt++ {
			p := r.worker(t, "batch", part{Attempt: attempt, Every: 5})
			p.await("at start")
			time.Sleep(rand.N(40 * time.Millisecond))
			p.kill()
		}
		p := r.worker(t, "batch", part{Attempt: attempt, Every: 5})
		if result := p.await("result"); !strings.HasSuffix(result, "reused") {
			t.Errorf("the last attempt ends with %q", result)
		}
		r.want(t, 500, 500)
		if n := r.number(t, "SELECT count(DISTINCT customer) FROM invoices"); n != 500 {
			t.Errorf("%d customers have an invoice", n)
		}
	})
}

// payments is the provider's process.
type payments struct {
	t   testing.TB
	url string
}

func startProvider(t testing.TB) payments {
	p := spawn(t, "provider", part{})
	return payments{t, "http://" + p.await("listening")}
}

func (p payments) request(method, path string, into any) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	if into != nil {
		if err := json.NewDecoder(res.Body).Decode(into); err != nil {
			p.t.Fatal(err)
		}
	}
}

// want checks how many effects the provider had, and that every call brought the
// same key.
func (p payments) want(effects, calls int) {
	p.t.Helper()
	var b books
	p.request(http.MethodGet, "/books", &b)
	if b.Effects != effects || len(b.Keys) != calls {
		p.t.Errorf("the provider had %d effects in %d calls, want %d in %d", b.Effects, len(b.Keys), effects, calls)
	}
	if len(slices.Compact(b.Keys)) > 1 {
		p.t.Errorf("the provider was given differing keys: %q", b.Keys)
	}
}

// B83 (c): killed between the provider's success and our record of it.
func TestB83_KilledBetweenTheProvidersSuccessAndTheRecord(t *testing.T) {
	const keyLife = time.Hour
	for _, test := range []struct {
		name    string
		part    part
		expired bool // the key's life is over when the retry comes
		result  string
		effects int
		calls   int
		state   effect.State
	}{
		{"with look-up it is found", part{Lookup: true}, false, "reused", 1, 1, effect.Done},
		{"with look-up it is found after the keys are forgotten too", part{Lookup: true, KeyLife: keyLife}, true, "reused", 1, 1, effect.Done},
		{"with keys it is repeated without a second effect", part{KeyLife: keyLife}, false, "created", 1, 2, effect.Done},
		{"after the keys are forgotten it is uncertain", part{KeyLife: keyLife}, true, "uncertain", 1, 1, effect.Uncertain},
		{"with neither it is uncertain", part{}, false, "uncertain", 1, 1, effect.Uncertain},
	} {
		t.Run(test.name, func(t *testing.T) {
			each(t, func(t *testing.T, r *rig) {
				bank := startProvider(t)
				first := test.part
				first.Provider, first.Timeout = bank.url, 300*time.Millisecond
				first.Attempt, first.Pause = 1, "charged"
				p := r.worker(t, "external", first)
				p.await("at charged")
				p.kill()
				if test.expired {
					bank.request(http.MethodDelete, "/keys", nil)
					r.exec(t, fmt.Sprintf("UPDATE duly_effects SET created_at = created_at - %d", keyLife.Microseconds()))
				}
				second := first
				second.Attempt, second.Pause = 2, ""
				r.worker(t, "external", second).want(test.result)
				bank.want(test.effects, test.calls)
				if e, err := r.get(t.Context(), "invoice/7/2027-01"); err != nil || e.State != test.state {
					t.Errorf("the ledger has %+v, error %v; want it %s", e, err, test.state)
				}
			})
		})
	}
}

func TestKilledBeforeTheProviderIsReachedTheRetryCalls(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		bank := startProvider(t)
		p := part{Provider: bank.url, Timeout: 300 * time.Millisecond, Lookup: true, Attempt: 1, Pause: "calling"}
		first := r.worker(t, "external", p)
		first.await("at calling")
		first.kill()
		p.Attempt, p.Pause = 2, ""
		r.worker(t, "external", p).want("created")
		bank.want(1, 1)
	})
}

// The paused process finds its call's time over and does not send it.
func TestACallPausedPastItsTimeIsNotSentLate(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		bank := startProvider(t)
		p := part{Provider: bank.url, Timeout: 300 * time.Millisecond, KeyLife: time.Hour, Attempt: 1, Pause: "calling"}
		a := r.worker(t, "external", p)
		a.await("at calling")
		a.signal(syscall.SIGSTOP)
		a.resume()
		p.Attempt, p.Pause = 2, ""
		r.worker(t, "external", p).want("created")
		a.signal(syscall.SIGCONT)
		a.want("internal") // its own call ended with its time; the new owner's record stands
		bank.want(1, 1)
		r.wantEntry(t, "invoice/7/2027-01", effect.Done, 2)
	})
}

// serve serves until the process is killed, and says where.
func serve(h http.Handler) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	fmt.Println("listening", l.Addr())
	if err := http.Serve(l, h); !errors.Is(err, net.ErrClosed) { // #nosec: a test's, without timeouts
		fmt.Println("error", err)
	}
	return 1
}
