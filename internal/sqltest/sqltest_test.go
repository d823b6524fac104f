//go:build unix

package sqltest

import (
	"os"
	"testing"
)

func TestEveryTestHasADatabaseOfItsOwn(t *testing.T) {
	var servers Servers
	defer servers.Stop()
	for range 2 {
		servers.Each(t, func(t *testing.T, d Database) {
			// A table of the same name could not be made twice in one database.
			if _, err := d.Open(t).ExecContext(t.Context(), "CREATE TABLE one (n INTEGER)"); err != nil {
				t.Fatal(err)
			}
		})
	}
	dirs := []string{servers.postgres.dir, servers.mariadb.dir}
	servers.Stop()
	for _, dir := range dirs {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("Stop left %s behind: %v", dir, err)
		}
	}
}

func TestMissingServersAreNamedWithTheirPackage(t *testing.T) {
	if _, err := find("no-such-program", "/usr/lib/postgresql/*/bin"); err == nil {
		t.Error("a program that is not there was found")
	}
}
