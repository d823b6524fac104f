package exec_test

import (
	"os"
	osexec "os/exec"
	"testing"
)

func TestKill9OfTheNodeTakesItsCommandAlong(t *testing.T) {
	w := newWitness(t)
	node := osexec.Command(os.Args[0])
	node.Env = append(os.Environ(), childMode+"=server", childAddr+"="+w.addr())
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	command := w.meet("hold")["hold"]
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait()
	command.mustDie()
}
