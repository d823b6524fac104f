//go:build linux || darwin

package exec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
)

func TestTheCauseOfAnEarlyEndShowsInTheOutcome(t *testing.T) {
	tests := []struct {
		cause   error
		outcome duly.Outcome
	}{
		{target.ErrTimeout, duly.AttemptTimedOut},
		{target.ErrCancelled, duly.AttemptCancelled},
		{target.ErrLeaseLost, duly.AttemptLost},
		{target.ErrDraining, duly.AttemptReleased},
		{fmt.Errorf("%w by ann: wrong month", target.ErrCancelled), duly.AttemptCancelled},
	}
	for _, tt := range tests {
		t.Run(tt.cause.Error(), func(t *testing.T) {
			w := newWitness(t)
			r := begin(t, testBinary("hold", w.addr()))
			child := w.meet("hold")["hold"]
			r.cancel(tt.cause)
			res := r.end()
			child.mustDie()
			if want := tt.cause.Error() + "; the command ended by SIGTERM"; res.Outcome != tt.outcome || res.Error != want {
				t.Errorf("got %+v, want %s: %s", res, tt.outcome, want)
			}
			if res.Permanent || res.ExitCode == nil || *res.ExitCode != 143 {
				t.Errorf("got %+v", res)
			}
		})
	}
}

func TestIgnoresSIGTERMAndIsKilled(t *testing.T) {
	w := newWitness(t)
	a := testBinary("ignore", w.addr())
	a.Target.Exec.KillAfter = duly.Duration(50 * time.Millisecond)
	r := begin(t, a)
	child := w.meet("ignore")["ignore"]
	r.cancel(target.ErrTimeout)
	res := r.end()
	child.mustDie()
	if res.Outcome != duly.AttemptTimedOut || !strings.Contains(res.Error, "still there 50ms after SIGTERM and was killed") || *res.ExitCode != 137 {
		t.Errorf("got %+v", res)
	}
}

func TestExitCode0AfterSIGTERMIsNoSuccess(t *testing.T) {
	w := newWitness(t)
	r := begin(t, testBinary("exit0", w.addr()))
	w.meet("exit0")
	r.cancel(target.ErrDraining)
	res := r.end()
	if res.Outcome != duly.AttemptReleased || *res.ExitCode != 0 || !strings.Contains(res.Error, "exit status 0 after SIGTERM") {
		t.Errorf("got %+v", res)
	}
}

func TestAnUnknownOutcomeStaysUnknownAfterSIGTERM(t *testing.T) {
	w := newWitness(t)
	a := testBinary("hold", w.addr())
	a.Target.Exec.Command = []string{"sh", "-c", `trap 'exit 79' TERM; "$0" & wait`, a.Target.Exec.Command[0]}
	r := begin(t, a)
	child := w.meet("hold")["hold"]
	r.cancel(target.ErrTimeout)
	res := r.end()
	child.mustDie()
	if res.Outcome != duly.AttemptUncertain || *res.ExitCode != 79 {
		t.Errorf("got %+v", res)
	}
}

// A shell dies of SIGTERM at once, while the program that it waits for has a
// handler and needs a moment.
func TestAProgramBehindAShellMayTidyUp(t *testing.T) {
	w := newWitness(t)
	a := testBinary("tidy", w.addr())
	a.Target.Exec.Command = []string{"sh", "-c", `"$0"; echo never`, a.Target.Exec.Command[0]}
	r := begin(t, a)
	child := w.meet("tidy")["tidy"]
	r.cancel(target.ErrTimeout)
	if told := child.line(); told != "told" {
		t.Fatalf("child says %q", told)
	}
	child.speak()
	res := r.end()
	if res.Outcome != duly.AttemptTimedOut || res.Output != "tidied up\n" || strings.Contains(res.Error, "was killed") {
		t.Errorf("got %+v", res)
	}
}

func TestForksChildrenThatOutliveItAndTheyAreKilled(t *testing.T) {
	w := newWitness(t)
	r := begin(t, testBinary("fork", w.addr()))
	children := w.meet("fork", "hold")
	children["fork"].speak() // it ends, and leaves its child with the pipe
	res := r.end()
	children["hold"].mustDie()
	if res.Outcome != duly.AttemptSucceeded || res.Output != "forked\n" {
		t.Errorf("got %+v", res)
	}
}

func TestADaemonThatHoldsThePipesDoesNotHangTheAttempt(t *testing.T) {
	w := newWitness(t)
	r := begin(t, testBinary("daemon", w.addr()))
	children := w.meet("daemon", "hold")
	children["daemon"].speak()
	res := r.end()
	if res.Outcome != duly.AttemptSucceeded || res.Output != "forked\n" {
		t.Errorf("got %+v", res)
	}
	children["hold"].mustLive() // it is no longer the attempt's
}

func TestManyCommandsAtOnceEndEachWithItsOwnOutput(t *testing.T) {
	const n = 50
	results := make([]chan target.Result, n)
	for i := range n {
		results[i] = make(chan target.Result, 1)
		go func() { results[i] <- run(t.Context(), shell(fmt.Sprintf("echo %d; exit %d", i, i%3))) }()
	}
	for i, c := range results {
		if res := <-c; res.Output != fmt.Sprintf("%d\n", i) || *res.ExitCode != i%3 {
			t.Errorf("command %d: %+v", i, res)
		}
	}
}
