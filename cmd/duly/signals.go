package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// oneSignal is how close together signals are one. A terminal sends SIGINT to
// every process of its group, and a wrapper (timeout, npm, go run) passes its
// own on to its child: that is one person pressing Ctrl-C once.
const oneSignal = 500 * time.Millisecond

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. A
// second one ends the process at once, with the exit code that a shell knows
// (128 and the signal's number), unless signals belong to a wrapped command.
func untilSignal(ctx context.Context, wrapping *atomic.Bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var first time.Time
		for sig := range caught {
			if first.IsZero() {
				first = time.Now()
				cancel()
				continue
			}
			if number, ok := sig.(syscall.Signal); ok && time.Since(first) > oneSignal && !wrapping.Load() {
				os.Exit(128 + int(number))
			}
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(caught)
		<-done
		cancel()
	}
}
