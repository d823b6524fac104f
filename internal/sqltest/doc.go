// Package sqltest gives tests real databases: an SQLite file, and PostgreSQL
// and MariaDB servers that a test binary starts when it first needs them and
// stops in its end. Each test has a database of its own on them.
//
//	var servers sqltest.Servers
//
//	func TestMain(m *testing.M) { os.Exit(servers.Run(m)) }
//
//	func TestSomething(t *testing.T) {
//		servers.Each(t, func(t *testing.T, d sqltest.Database) { db := d.Open(t) … })
//	}
//
// A server that is not installed is a failure that names its package, never a
// skip: a matrix with a silent hole proves nothing. A test binary that is killed
// takes its servers with it.
//
// A test that breaks its server has one of its own: see [Own], which can be
// stopped, crashed, paused, given a standby and replaced by it.
//
// DULY_TEST_POSTGRES_BIN names the folder of another PostgreSQL's programs than
// the newest that is installed, to try its version.
//
// For tests only: it links three drivers.
package sqltest
