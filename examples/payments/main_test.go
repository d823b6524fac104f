//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// patience bounds every wait for other processes on a busy machine.
const patience = 60 * time.Second

// bin is where the programs under test are: payments and duly.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "payments")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	bin = dir
	if out, err := exec.Command("go", "build", "-o", dir+"/", ".", "../../cmd/duly").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

func TestALostOutcomeIsFoundOutOrLeftToAPersonAndNobodyIsChargedTwice(t *testing.T) {
	const (
		recent = "1h"
		past   = "2s" // over by the time that a call is known to be dead
	)
	cases := []struct {
		name     string
		lose     bool     // the provider's first answer gets lost
		crash    string   // the shop dies before or after its first call
		flags    []string // of the shop
		keyLife  string   // of the provider
		charges  int      // when the shop has done what it can
		state    duly.State
		again    bool     // the provider is called again, with the same key
		resolve  []string // what a person says then
		attempts int      // in all
	}{
		{name: "AnswerLostAndTheProviderCanBeAsked", lose: true, flags: []string{"-lookup", "-key-life", "0"}, keyLife: "0s", charges: 1, state: duly.Succeeded, attempts: 2},
		{name: "AnswerLostAndTheProviderRemembersTheKey", lose: true, flags: []string{"-key-life", recent}, keyLife: recent, charges: 1, state: duly.Succeeded, again: true, attempts: 2},
		{name: "AnswerLostAndNoWayToFindOut", lose: true, flags: []string{"-key-life", "0"}, keyLife: "0s", charges: 1, state: duly.Uncertain, resolve: []string{"--done", `{"id":"ch_1"}`}, attempts: 2},
		{name: "CrashBeforeTheRecordAndTheProviderCanBeAsked", crash: "after", flags: []string{"-lookup", "-key-life", past}, keyLife: past, charges: 1, state: duly.Succeeded, attempts: 2},
		{name: "CrashBeforeTheRecordAndTheProviderRemembersTheKey", crash: "after", flags: []string{"-key-life", recent}, keyLife: recent, charges: 1, state: duly.Succeeded, again: true, attempts: 2},
		{name: "CrashBeforeTheRecordAndTheKeyIsForgotten", crash: "after", flags: []string{"-key-life", past}, keyLife: past, charges: 1, state: duly.Uncertain, resolve: []string{"--done", `{"id":"ch_1"}`}, attempts: 3},
		{name: "CrashBeforeTheCallAndTheProviderCanBeAsked", crash: "before", flags: []string{"-lookup", "-key-life", past}, keyLife: past, charges: 1, state: duly.Succeeded, attempts: 2},
		{name: "CrashBeforeTheCallAndTheKeyIsForgotten", crash: "before", flags: []string{"-key-life", past}, keyLife: past, charges: 0, state: duly.Uncertain, resolve: []string{"--redo"}, attempts: 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, data: t.TempDir()}
			w.provider(c.keyLife, c.lose)
			if c.crash != "" {
				w.crash(c.crash, c.flags)
			}
			w.shop(c.flags)
			o := w.await(c.state)
			if n := w.charges(o); n != c.charges {
				t.Errorf("%d charges, want %d", n, c.charges)
			}
			if again := strings.Contains(w.told.String(), "of "+reference(o)+": asked for again"); again != c.again {
				t.Errorf("the provider was asked again: %v, want %v\n%s", again, c.again, w.told.String())
			}
			if c.resolve != nil {
				w.duly(append([]string{"effects", "resolve", reference(o), "--db", "sqlite:" + w.data + "/app.db", "--why", "the provider's list"}, c.resolve...)...)
				o = w.await(duly.Succeeded)
			}
			if n := w.charges(o); n != 1 {
				t.Errorf("%d charges in the end, want 1", n)
			}
			last := o.Attempts[len(o.Attempts)-1]
			made := c.again || c.charges == 0 || c.crash == "before" // by the last call, as far as anybody knows
			if len(o.Attempts) != c.attempts || (last.Effects.Created == 1) != made || (last.Effects.Reused == 1) == made {
				t.Errorf("%d attempts, want %d; the last one created %d and found %d", len(o.Attempts), c.attempts, last.Effects.Created, last.Effects.Reused)
			}
			w.duly("audit", "effects", "--db", "sqlite:"+w.data+"/app.db", "--prefix", reference(o))
		})
	}
}

func reference(o duly.Occurrence) string { return "charge/ada/" + o.Period }

// world is a provider and a shop, each a process of its own.
type world struct {
	t       *testing.T
	data    string
	address string
	told    locked // by the provider
	subject string // the occurrence that is looked at: the first one
}

var addressPattern = regexp.MustCompile(`answers at (http://\S+);`)

func (w *world) provider(keyLife string, lose bool) {
	w.t.Helper()
	cmd := exec.Command(bin+"/payments", "provider", "-listen", "127.0.0.1:0", "-key-life", keyLife, fmt.Sprintf("-lose=%v", lose))
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	address := make(chan string, 1)
	w.run(cmd, func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&w.told, lines.Text())
			if m := addressPattern.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
	})
	select {
	case w.address = <-address:
	case <-time.After(patience):
		w.t.Fatal("the provider does not answer")
	}
}

// run starts a process that ends with the test, and reads what it says.
func (w *world) run(cmd *exec.Cmd, read func()) {
	w.t.Helper()
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if read != nil {
			read()
		}
		_ = cmd.Wait()
	}()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
}

func (w *world) command(flags []string) *exec.Cmd {
	args := append([]string{"-data", w.data, "-provider", w.address, "-every", "1s", "-lease", "1s", "-timeout", "1s"}, flags...)
	return exec.Command(bin+"/payments", args...)
}

func (w *world) shop(flags []string) {
	w.t.Helper()
	cmd := w.command(flags)
	log := &locked{}
	cmd.Stderr = log
	w.run(cmd, nil)
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("the shop's log:\n%s", log.String())
		}
	})
}

// crash runs the shop until it has died.
func (w *world) crash(when string, flags []string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	cmd := w.command(append([]string{"-crash", when}, flags...))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	select {
	case <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Kill()
		<-ended
		w.t.Fatal("the shop did not die")
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		w.t.Fatalf("the shop ended with %v", cmd.ProcessState)
	}
}

// await waits until the first occurrence is in a state.
func (w *world) await(state duly.State) duly.Occurrence {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		o, ok := w.first()
		if ok && o.State == state {
			return o
		}
		if ok && !o.State.Open() {
			w.t.Fatalf("%s is %s, want %s: %s", o.ID, o.State, state, o.Reason)
		}
		select {
		case <-deadline:
			w.t.Fatalf("%+v is not %s within %v", o, state, patience)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// first finds the oldest occurrence that was attempted.
func (w *world) first() (duly.Occurrence, bool) {
	w.t.Helper()
	ctx := w.t.Context()
	st, err := store.Open(ctx, "sqlite:"+filepath.Join(w.data, "duly.db"), store.Options{ReadOnly: true})
	if err != nil {
		return duly.Occurrence{}, false // not made yet
	}
	defer st.Close()
	if w.subject == "" {
		all, _, err := st.Occurrences(ctx, store.OccurrenceFilter{Schedule: "charges"}, store.Page{Limit: 1000})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range all {
			if len(o.Attempts) > 0 {
				w.subject = o.ID // the last one in the list is the oldest
			}
		}
	}
	if w.subject == "" {
		return duly.Occurrence{}, false
	}
	o, err := st.Occurrence(ctx, w.subject)
	if err != nil {
		w.t.Fatal(err)
	}
	return o, true
}

// charges asks the provider how often the customer paid for an occurrence.
func (w *world) charges(o duly.Occurrence) int {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.address+"/charges?reference="+url.QueryEscape(reference(o)), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	var all []Charge
	if err := json.NewDecoder(res.Body).Decode(&all); err != nil {
		w.t.Fatal(err)
	}
	return len(all)
}

func (w *world) duly(args ...string) {
	w.t.Helper()
	out, err := exec.Command(bin+"/duly", append(args, "--store", "sqlite:"+w.data+"/duly.db")...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("duly %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// locked is a text that one goroutine writes and another reads.
type locked struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
