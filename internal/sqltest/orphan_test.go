//go:build unix

package sqltest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"
)

const orphanVariable = "DULY_TEST_SQLTEST_CHILD"

// TestMain plays the test binary that is killed, too.
func TestMain(m *testing.M) {
	if os.Getenv(orphanVariable) == "" {
		os.Exit(m.Run())
	}
	srv, err := startPostgres(false)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(srv.dir)
	select {}
}

func TestServersEndWithAKilledTestBinary(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(exe)
	child.Env = append(os.Environ(), orphanVariable+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the child says nothing")
	}
	dir := lines.Text()
	if _, err := os.Stat(dir + "/data/postmaster.pid"); err != nil {
		t.Fatalf("the child's server does not run: %v", err)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
	}
}
