//go:build unix

package node_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/duly-dev/duly/internal/sqltest"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/postgres"
)

// B80: nodes minutes apart saw each other's ownership as run out and did the
// same work twice. Three processes whose clocks are 180 s fast, right and 180 s
// slow; every 2 s instead of every minute.
func TestFieldCase_B80_NodesMinutesApartStartEachOccurrenceOnce(t *testing.T) {
	var servers sqltest.Servers
	defer servers.Stop()
	database := servers.Postgres(t)
	app := database.Open(t)
	if _, err := app.ExecContext(t.Context(), "CREATE TABLE runs (node text, period text, due timestamptz, node_clock timestamptz, at timestamptz DEFAULT clock_timestamp())"); err != nil {
		t.Fatal(err)
	}
	binary := buildSkewed(t)

	const periods = 10
	clocks := map[string]time.Duration{"fast": 180 * time.Second, "right": 0, "slow": -180 * time.Second}
	for name, skew := range clocks {
		var log strings.Builder
		cmd := exec.Command(binary, database.DSN, name)
		cmd.Env = append(os.Environ(), fmt.Sprintf("SKEW=%d", int(skew.Seconds())))
		cmd.Stderr = &log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			if err := cmd.Wait(); err != nil || t.Failed() {
				t.Errorf("node %s ended with %v; its log:\n%s", name, err, log.String())
			}
		}()
	}

	st, err := store.Open(t.Context(), database.DSN, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	seen := map[string]time.Duration{}
	deadline := time.Now().Add(3 * time.Minute)
	for done := 0; done < periods || len(seen) < len(clocks); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after 3m %d periods were done; offsets that nodes tell: %v", done, seen)
		}
		if err := app.QueryRowContext(t.Context(), "SELECT count(DISTINCT period) FROM runs").Scan(&done); err != nil {
			t.Fatal(err)
		}
		nodes, err := st.NodeList(t.Context())
		if err != nil {
			continue // the nodes are making the tables
		}
		for _, n := range nodes {
			if n.ClockOffset != 0 {
				seen[n.Name] = n.ClockOffset
			}
		}
	}

	rows, err := app.QueryContext(t.Context(), "SELECT period, count(*), max(extract(epoch FROM at - due)), min(extract(epoch FROM at - due)) FROM runs GROUP BY period")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var period string
		var count int
		var latest, earliest float64
		if err := rows.Scan(&period, &count, &latest, &earliest); err != nil {
			t.Fatal(err)
		}
		if count != 1 {
			t.Errorf("period %s was run %d times", period, count)
		}
		// A wrong clock would show as three minutes; a busy machine is no fault.
		if earliest < 0 || latest > 60 {
			t.Errorf("period %s was run %.3fs after its time by the store's clock", period, latest)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for name, skew := range clocks {
		if off := seen[name] - skew; off.Abs() > 2*time.Second {
			t.Errorf("node %s tells an offset of %v, its clock is off by %v", name, seen[name], skew)
		}
	}
}

// buildSkewed builds a node whose time.Now is off by SKEW seconds. The Go
// runtime asks the kernel and not the C library for the time, so that tools
// which replace the latter do nothing to it.
func buildSkewed(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(out)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	const reading = "sec, nsec, mono := runtimeNow()\n"
	patched := strings.Replace(string(source), "func Now() Time {\n\t"+reading, "func Now() Time {\n\t"+reading+"\tsec += skew\n", 1)
	patched = strings.Replace(patched, "import (", "import (\n\t\"syscall\"", 1)
	patched += `
var skew = func() (s int64) {
	text, _ := syscall.Getenv("SKEW")
	negative := len(text) > 0 && text[0] == '-'
	for _, c := range text {
		if '0' <= c && c <= '9' {
			s = 10*s + int64(c-'0')
		}
	}
	if negative {
		return -s
	}
	return s
}()
`
	if !strings.Contains(patched, "sec += skew") {
		t.Fatal("this Go's time.Now is written otherwise than this test knows; mend the replacement")
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: write(t, dir, "time.go", patched)}})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "skewed")
	build := exec.Command("go", "build", "-overlay", write(t, dir, "overlay.json", string(overlay)), "-o", binary, "./testdata/skewed")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
