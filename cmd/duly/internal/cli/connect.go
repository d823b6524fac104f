package cli

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/server"
	"github.com/duly-dev/duly/store"
	_ "github.com/duly-dev/duly/store/postgres" // postgres:
	_ "github.com/duly-dev/duly/store/sqlite"   // sqlite:
)

const defaultStore = "sqlite:duly.db"

// look connects for reading: a store is neither made nor changed.
func (inv *invocation) look(ctx context.Context) (*api.Client, error) {
	return inv.connect(ctx, store.Options{ReadOnly: true})
}

// change connects for changing what is there: a store that does not exist has
// nothing of it, and a slip of the pen must not make one.
func (inv *invocation) change(ctx context.Context) (*api.Client, error) {
	if inv.serverURL() == "" {
		st, err := store.Open(ctx, inv.storeURL(), store.Options{ReadOnly: true})
		if duly.CodeOf(err) == duly.CodeNotFound {
			return nil, storeHint(inv.storeURL(), err)
		}
		if err == nil {
			_ = st.Close() // nothing was written
		}
	}
	return inv.act(ctx)
}

// act connects for changing things, in a store that is made if need be.
func (inv *invocation) act(ctx context.Context) (*api.Client, error) {
	return inv.connect(ctx, store.Options{})
}

// lookOrEmpty is look, with an empty store in place of one that does not exist
// yet: a first plan is made before there is anything.
func (inv *invocation) lookOrEmpty(ctx context.Context) (*api.Client, error) {
	client, err := inv.look(ctx)
	if duly.CodeOf(err) != duly.CodeNotFound {
		return client, err
	}
	dir, err := os.MkdirTemp("", "duly-plan-")
	if err != nil {
		return nil, err
	}
	inv.closers = append(inv.closers, func() error { return os.RemoveAll(dir) })
	return inv.open(ctx, "sqlite:"+filepath.Join(dir, "empty.db"), store.Options{})
}

// connect opens the API of a server, or of a store in this process.
func (inv *invocation) connect(ctx context.Context, opt store.Options) (*api.Client, error) {
	if address := inv.serverURL(); address != "" {
		if err := checkServer(address); err != nil {
			return nil, err
		}
		return api.New(address, inv.getenv("DULY_TOKEN")).As(inv.actor()), nil
	}
	return inv.open(ctx, inv.storeURL(), opt)
}

// open serves the API of a store in this process, for this process alone.
func (inv *invocation) open(ctx context.Context, url string, opt store.Options) (*api.Client, error) {
	st, err := store.Open(ctx, url, opt)
	if err != nil {
		return nil, storeHint(url, err)
	}
	srv := server.New(st, control.New(st), server.Options{Logger: inv.faultLog()})
	inv.closers = append(inv.closers, func() error { srv.Close(); return st.Close() })
	return api.InProcess(srv.Handler()).As(inv.actor()), nil
}

// serverURL is the server to talk to, empty for none. What the command line
// says outranks the environment.
func (inv *invocation) serverURL() string {
	if inv.flags.store != "" {
		return ""
	}
	return cmp.Or(inv.flags.server, inv.getenv("DULY_SERVER"))
}

// checkServer refuses an address that no request can be sent to.
func checkServer(address string) error {
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		return nil
	}
	wrong := duly.Errorf(duly.CodeInvalid, "%q is not the address of a server", address)
	return withHint(wrong, "write it as http://HOST:PORT or https://HOST, in --server or DULY_SERVER")
}

func (inv *invocation) storeURL() string {
	return cmp.Or(inv.flags.store, inv.getenv("DULY_STORE"), defaultStore)
}

// close gives up what the command held, last opened first.
func (inv *invocation) close() error {
	var first error
	for i := len(inv.closers) - 1; i >= 0; i-- {
		if err := inv.closers[i](); first == nil {
			first = err
		}
	}
	inv.closers = nil
	return first
}

// visibleURL is a store's or a server's URL without its password.
func visibleURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Redacted()
}

// storeHint says what to do about a store that cannot be opened.
func storeHint(url string, err error) error {
	if !strings.Contains(url, ":") {
		return withHint(err, "if that is a file, write: --store sqlite:%s", url)
	}
	if code := duly.CodeOf(err); code != duly.CodeInvalid && code != duly.CodeNotFound {
		return err
	}
	return withHint(err, "name a store with --store or DULY_STORE; one that does not exist yet is made by: duly apply, duly serve, duly migrate")
}
