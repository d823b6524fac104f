package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// openPatiently opens a store, and waits for one that does not answer: a server
// that starts before its store is nothing unusual. What waiting cannot mend is
// an error at once.
func openPatiently(ctx context.Context, url string, log *slog.Logger) (st store.Store, err error) {
	err = patiently(ctx, log, func() error {
		st, err = store.Open(ctx, url, store.Options{})
		return err
	})
	return st, err
}

// patiently repeats a step for as long as the store is unavailable, 100 ms to
// 5 s apart, with jitter.
func patiently(ctx context.Context, log *slog.Logger, step func() error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval = 100 * time.Millisecond
	pause.MaxInterval = 5 * time.Second
	said := ""
	for {
		err := step()
		if err == nil || ctx.Err() != nil || duly.CodeOf(err) != duly.CodeUnavailable {
			return err
		}
		if err.Error() != said {
			said = err.Error()
			log.Warn("the store does not answer; waiting for it", "error", said)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause.NextBackOff()):
		}
	}
}

// ignorePipe keeps a server alive whose output nobody reads any more: writing
// then fails instead of ending the process. The signal is caught rather than
// ignored, because what is ignored stays so in the commands of exec targets.
func ignorePipe() (undo func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}
