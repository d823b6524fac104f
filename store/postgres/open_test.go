//go:build unix

package postgres

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func TestFiftyNodesThatStartAtOnceMakeOneSchema(t *testing.T) {
	dsn := servers.Postgres(t).DSN + "&max_conns=2"
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			s, err := Open(context.Background(), dsn, store.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Join(context.Background(), store.NodeInfo{Name: "n"}); err != nil {
				t.Error(err)
			}
			_ = s.Close()
		})
	}
	wg.Wait()
	s := mustOpen(t, dsn)
	all, err := s.NodeList(t.Context())
	if err != nil || len(all) != 50 {
		t.Fatalf("%d nodes (%v)", len(all), err)
	}
}

func TestSchemasOfOneDatabaseAreStoresOfTheirOwn(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	one, two := mustOpen(t, dsn+"&schema=one"), mustOpen(t, dsn+"&schema=Two%20%22quoted%22")
	if _, err := one.Join(t.Context(), store.NodeInfo{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*Store]int{one: 1, two: 0} {
		if all, err := s.NodeList(t.Context()); err != nil || len(all) != want {
			t.Errorf("%s has %d nodes, want %d (%v)", s.cfg.schema, len(all), want, err)
		}
	}
}

func TestADatabaseThatCannotHoldEveryTextIsRefused(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s := mustOpen(t, dsn)
	for encoding, fits := range map[string]bool{"LATIN1": false, "EUC_JP": false, "SQL_ASCII": true, "UTF8": true} {
		name := s.cfg.pool.ConnConfig.Database + "_" + strings.ToLower(encoding)
		if _, err := s.pool.Exec(t.Context(), "CREATE DATABASE "+name+" ENCODING '"+encoding+"' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"); err != nil {
			t.Fatal(err)
		}
		url, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		url.Path = "/" + name
		opened, err := Open(t.Context(), url.String(), store.Options{})
		if !fits {
			wantCode(t, err, duly.CodeInvalid)
			if !strings.Contains(err.Error(), encoding) {
				t.Errorf("%s: %v", encoding, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTextIsKeptWhateverEncodingTheRoleHas(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s := mustOpen(t, dsn)
	if _, err := s.pool.Exec(t.Context(), "ALTER DATABASE "+s.cfg.pool.ConnConfig.Database+" SET client_encoding = 'EUC_JP'"); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, dsn)
	const name = "grüße 😀 日本"
	if _, err := s.Join(t.Context(), store.NodeInfo{Name: name}); err != nil {
		t.Fatal(err)
	}
	if all, err := s.NodeList(t.Context()); err != nil || len(all) != 1 || all[0].Name != name {
		t.Fatalf("kept %+v (%v)", all, err)
	}
}

func TestOpeningDoesNoMoreThanItMay(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	for _, opt := range []store.Options{{NoMigrate: true}, {ReadOnly: true}} {
		_, err := Open(t.Context(), dsn, opt)
		wantCode(t, err, duly.CodeNotFound)
	}
	s := mustOpen(t, dsn)
	looking, err := Open(t.Context(), dsn, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close()
	if _, err := looking.Stats(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = looking.Join(t.Context(), store.NodeInfo{})
	wantCode(t, err, duly.CodeInvalid)
	if _, err := s.pool.Exec(t.Context(), "UPDATE duly.schema_version SET version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dsn, store.Options{})
	wantCode(t, err, duly.CodeInvalid)
}

func TestAClosedStoreIsUnavailable(t *testing.T) {
	s := mustOpen(t, servers.Postgres(t).DSN)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Stats(t.Context())
	wantCode(t, err, duly.CodeUnavailable)
	_, err = s.Finish(t.Context(), 0, []store.Report{{Seq: 1}})
	wantCode(t, err, duly.CodeUnavailable)
	wantCode(t, s.Watch(t.Context(), func(store.Event) {}), duly.CodeUnavailable)
}

func TestURLs(t *testing.T) {
	for raw, want := range map[string]duly.Code{
		"postgres://u@h/db": "",
		"postgresql://u:secret@h1,h2:5433/db?sslmode=prefer":  "",
		"postgres://h/db?schema=x&pgbouncer=true&max_conns=4": "",
		"postgres://h/db?schema=":                             duly.CodeInvalid,
		"postgres://h/db?pgbouncer=perhaps":                   duly.CodeInvalid,
		"postgres://h/db?max_conns=1":                         duly.CodeInvalid,
		"postgres://h/db?poll=soon":                           duly.CodeInvalid,
		"mysql://h/db":                                        duly.CodeInvalid,
		"postgres://h:port/db":                                duly.CodeInvalid,
	} {
		cfg, err := parse(raw)
		if duly.CodeOf(err) != want {
			t.Errorf("%s: %v, want code %q", raw, err, want)
		}
		if several := raw == "postgresql://u:secret@h1,h2:5433/db?sslmode=prefer"; several && (cfg.pool.ConnConfig.ValidateConnect == nil || cfg.name != "h1/db") {
			t.Errorf("of several hosts the one that writes is not looked for, or its name %q tells too much", cfg.name)
		}
	}
}
