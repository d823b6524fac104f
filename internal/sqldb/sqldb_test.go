package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func FuzzNamesComeBackAsTheyWere(f *testing.F) {
	for _, name := range []string{"", "invoice/42", "a ", " ", `\`, `\\ `, "\x00", "größe", "😀", "\xff\xfe", `"'`, `\x20`, "a\u2028", "\x7f", strings.Repeat("x", 500)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text := Printable(name)
		for i := range len(text) {
			if text[i] < 0x20 || text[i] > 0x7e {
				t.Fatalf("%q is written as %q, which is not printable ASCII", name, text)
			}
		}
		if strings.HasSuffix(text, " ") {
			t.Fatalf("%q is written as %q, whose last space some databases ignore", name, text)
		}
		back, err := ParsePrintable(text)
		if err != nil || back != name {
			t.Fatalf("%q is written as %q and read as %q, error %v", name, text, back, err)
		}
		key, whole := KeyColumns(name)
		if len(key) > 194 || (whole == nil) != (key == text) {
			t.Fatalf("%q is found by %q of %d bytes", name, key, len(key))
		}
		from, to := KeyRange(name)
		if longer, _ := KeyColumns(name + "x"); longer < from || longer >= to {
			t.Fatalf("%q does not lie between %q and %q", longer, from, to)
		}
	})
}

func TestLongNamesKeepApart(t *testing.T) {
	seen := map[string]string{}
	for n := 120; n < 300; n++ {
		for _, name := range []string{strings.Repeat("x", n), strings.Repeat("x", n) + " ", strings.Repeat("\x00", n)} {
			key, _ := KeyColumns(name)
			if other, ok := seen[key]; ok {
				t.Errorf("names of %d and %d bytes are both found by %q", len(name), len(other), key)
			}
			seen[key] = name
			// What stands for a long name is no name's own key.
			if again, _ := KeyColumns(key); len(key) == 194 && again == key {
				t.Errorf("%q stands for itself and for a longer name", key)
			}
		}
	}
}

func TestRebindNumbersParameters(t *testing.T) {
	const query = "SELECT ? WHERE a = ? AND b = ?"
	if got := Postgres.Rebind(query); got != "SELECT $1 WHERE a = $2 AND b = $3" {
		t.Errorf("got %q", got)
	}
	if got := SQLite.Rebind(query); got != query {
		t.Errorf("got %q", got)
	}
}

// pgError and mysqlError look as those of the drivers do.
type pgError string

func (e pgError) Error() string    { return string(e) }
func (e pgError) SQLState() string { return string(e) }

type mysqlError struct {
	Number   uint16
	SQLState [5]byte
}

func (e *mysqlError) Error() string { return fmt.Sprint(e.Number) }

// coded is an error of a package that has nothing to do with SQLite.
type coded int

func (e coded) Error() string { return "coded" }
func (e coded) Code() int     { return int(e) }

func TestFaultsAreReadFromCodes(t *testing.T) {
	for _, test := range []struct {
		dialect Dialect
		err     error
		want    Fault
	}{
		{Postgres, nil, Other},
		{Postgres, errors.New("deadlock detected"), Other},
		{Postgres, pgError("40001"), Conflict},
		{Postgres, fmt.Errorf("bill: %w", pgError("40P01")), Conflict},
		{Postgres, errors.Join(io.ErrClosedPipe, pgError("55P03")), Conflict},
		{Postgres, pgError("23505"), Duplicate},
		{Postgres, pgError("25P02"), Aborted},
		{Postgres, pgError("25006"), ReadOnly},
		{Postgres, pgError("42P01"), NoTable},
		{Postgres, pgError("08006"), Lost},
		{Postgres, pgError("57P01"), Lost},
		{Postgres, pgError("22001"), Refused},
		{Postgres, &mysqlError{Number: 1213}, Other},
		{MySQL, &mysqlError{Number: 1213}, Conflict},
		{MySQL, fmt.Errorf("bill: %w", &mysqlError{Number: 1205}), Conflict},
		{MySQL, &mysqlError{Number: 1062}, Duplicate},
		{MySQL, &mysqlError{Number: 1792}, ReadOnly},
		{MySQL, &mysqlError{Number: 1146}, NoTable},
		{MySQL, &mysqlError{Number: 1406}, Refused},
		{MySQL, (*mysqlError)(nil), Other},
		{SQLite, coded(5), Other},
		{SQLite, driver.ErrBadConn, Lost},
		{SQLite, fmt.Errorf("read: %w", io.ErrUnexpectedEOF), Lost},
		{SQLite, context.Canceled, Other},
	} {
		if got := test.dialect.FaultOf(test.err); got != test.want {
			t.Errorf("%s: %v is fault %d, want %d", test.dialect, test.err, got, test.want)
		}
	}
}
