package cli

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/control"
	"github.com/duly-dev/duly/node"
	"github.com/duly-dev/duly/server"
	"github.com/duly-dev/duly/store"
	"github.com/duly-dev/duly/target"
	"github.com/duly-dev/duly/target/exec"
	httptarget "github.com/duly-dev/duly/target/http"
)

const serveLong = `Does what is due: plans, runs exec and http targets, and serves the API and the
status page, in one process. Any number of them may share a store; none of them
is special.

SIGTERM or SIGINT drains: nothing new is started, what runs gets --drain, then it
is cancelled and given back. A second signal ends the process at once; what ran
then is found again by its lease and tried again.

There is no access control yet. Whoever can reach --listen can change schedules
and so run commands; keep it on the loopback interface or behind a proxy.`

// serveFlags are the flags of `duly serve`.
type serveFlags struct {
	listen     string
	url        string
	file       string
	name       string
	slots      int
	drain      time.Duration
	history    string
	log        string
	debug      bool
	publicOnly bool
}

func (inv *invocation) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:     "serve",
		Short:   "Do what is due, and serve the API and the status page",
		Long:    serveLong,
		Example: "  duly serve --store sqlite:/var/lib/duly/duly.db -f duly.yaml",
		Args:    args(0, 0),
		RunE:    func(c *cobra.Command, _ []string) error { return inv.serve(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:4747", "the `address` to listen on; port 0 picks one")
	flags.StringVar(&f.url, "url", "", "the `URL` at which others reach this server, for callbacks (default http://LISTEN)")
	flags.StringVarP(&f.file, "file", "f", "", "apply this `file` at the start")
	flags.StringVar(&f.name, "name", "", "the node's `name` (default host name and process number)")
	flags.IntVar(&f.slots, "slots", 100, "how `many` occurrences to work on at once")
	flags.DurationVar(&f.drain, "drain", 20*time.Second, "how `long` running attempts may go on at the end")
	flags.StringVar(&f.history, "history", "", "delete what ended `longer` ago, e.g. 90d; effects stay (default: nothing is deleted)")
	flags.StringVar(&f.log, "log", "", "the log's `form`: text or json (default text on a terminal)")
	flags.BoolVar(&f.debug, "debug", false, "log every request and decision")
	flags.BoolVar(&f.publicOnly, "http-public-only", false, "refuse http targets that are not on the public internet")
	complete(c, "log", "text", "json")
	if err := c.MarkFlagFilename("file", "yaml", "yml"); err != nil {
		panic(err)
	}
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

// maxNodeName is what the API takes, so that all nodes are alike.
const maxNodeName = 200

func (inv *invocation) serve(ctx context.Context, f serveFlags) error {
	if inv.flags.server != "" {
		return withHint(usagef("serve works on a store, not through a server"), "name the store with --store")
	}
	if f.slots < 1 {
		return usagef("--slots is %d; it must be at least 1", f.slots)
	}
	if f.drain < 0 {
		return usagef("--drain is %s; it cannot be negative", f.drain)
	}
	if len(f.name) > maxNodeName {
		return usagef("--name has %d bytes; at most %d are possible", len(f.name), maxNodeName)
	}
	if f.url != "" && checkServer(f.url) != nil {
		return withHint(usagef("--url is %q, to which nobody can report", f.url), "write it as http://HOST:PORT or https://HOST")
	}
	if _, err := f.keep(); err != nil {
		return err
	}
	log, err := inv.newLogger(f.log, f.debug)
	if err != nil {
		return err
	}
	var definitions *api.ApplyRequest
	if f.file != "" {
		files := fileFlags{file: f.file}
		req, file, err := files.request()
		if err != nil {
			return err
		}
		inv.warn(file)
		definitions = &req
	}
	quiet := ignorePipe()
	defer quiet()

	st, err := openPatiently(ctx, inv.storeURL(), log)
	if err != nil {
		return stopped(ctx, storeHint(inv.storeURL(), err))
	}
	defer st.Close()
	if definitions != nil {
		if err := inv.applyAtStart(ctx, st, *definitions, log); err != nil {
			return stopped(ctx, err)
		}
	}
	listener, err := listen(f.listen)
	if err != nil {
		return err
	}
	return inv.serveOn(ctx, st, listener, f, log)
}

// keep is how long history is kept; 0: for ever.
func (f *serveFlags) keep() (time.Duration, error) {
	if f.history == "" {
		return 0, nil
	}
	d, err := duly.ParseDuration(f.history)
	if err != nil {
		return 0, usagef("--history: %v", err)
	}
	if d.Std() < time.Hour {
		return 0, usagef("--history is %s; it must be at least 1h", f.history)
	}
	return d.Std(), nil
}

// stopped forgives an error that comes of being told to end: a server that
// still waited for its store then ends well.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// serveOn takes part and answers requests until ctx ends.
func (inv *invocation) serveOn(ctx context.Context, st store.Store, listener net.Listener, f serveFlags, log *slog.Logger) error {
	address := reachable(listener.Addr())
	if f.url == "" {
		f.url = address
	}
	history, err := f.keep()
	if err != nil {
		return err
	}
	web := httptarget.New(httptarget.Options{PublicOnly: f.publicOnly})
	defer web.Close()
	n := node.New(st, node.Options{
		Name: f.name, Slots: f.slots, DrainTime: f.drain, History: history, CallbackURL: f.url, Logger: log,
		Targets: map[string]target.Runner{"exec": exec.New(exec.Options{}), "http": web},
	})
	srv := server.New(st, control.NewBeside(n, st), server.Options{Node: n, Logger: log, URL: f.url})
	httpServer := &http.Server{
		Handler: srv.Handler(),
		// Requests are small and come at once; answers may take as long as a
		// long poll or a stream of events does.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}

	inv.announce(listener.Addr(), address, log)
	group, working := errgroup.WithContext(ctx)
	group.Go(func() error {
		if err := httpServer.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return duly.Errorf(duly.CodeUnavailable, "the HTTP server ended: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		err := n.Run(working)
		// The API answers while the node drains: its workers still report.
		srv.Close()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if httpServer.Shutdown(stop) != nil {
			_ = httpServer.Close() // whoever still waits for an answer gets none
		}
		return err
	})
	err = group.Wait()
	if err == nil {
		log.Info("stopped; nothing is running here any more")
	}
	return err
}

// applyAtStart makes a file's definitions the ones in force. What cannot be
// meant ends the process; a store that does not answer is waited for.
func (inv *invocation) applyAtStart(ctx context.Context, st store.Store, req api.ApplyRequest, log *slog.Logger) error {
	ctl := control.New(st)
	var done store.ApplyResult
	err := patiently(ctx, log, func() (err error) {
		done, err = ctl.Apply(ctx, control.ApplyRequest{Owner: req.Owner, By: inv.actor(), Schedules: req.Schedules, Queues: req.Queues})
		return err
	})
	if err != nil {
		return withForceHint(err)
	}
	count := countChanges(done.Changes)
	log.Info("applied "+req.Owner, "created", count[store.ActionCreate], "updated", count[store.ActionUpdate], "unchanged", count[store.ActionKeep])
	return nil
}
