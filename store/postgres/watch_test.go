//go:build unix

package postgres

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/duly-dev/duly/store"
)

// watch collects events until the test ends.
func watch(t *testing.T, s *Store) <-chan store.Event {
	t.Helper()
	events := make(chan store.Event, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Watch(ctx, func(e store.Event) { events <- e })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return events
}

// await waits for an event that is wanted.
func await(t *testing.T, events <-chan store.Event, what string, wanted func(store.Event) bool) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case e := <-events:
			if wanted(e) {
				return
			}
		case <-late:
			t.Fatal("nothing told of " + what)
		}
	}
}

// awaitPush waits until it is known whether notifications arrive.
func awaitPush(t *testing.T, s *Store) (on bool, why string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if on, why = s.Push(); why != "nobody watches yet" {
			return on, why
		}
	}
	t.Fatal("it is not known whether notifications arrive")
	return false, ""
}

func TestAnotherProcessIsToldOfWhatHappens(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	mine, other := mustOpen(t, dsn), mustOpen(t, dsn)
	events := watch(t, mine)
	if on, why := awaitPush(t, mine); !on {
		t.Fatal(why)
	}
	crowdSchedules(t, other, time.Now(), 1)
	await(t, events, "new schedules", func(e store.Event) bool { return e.Topic == store.TopicSchedules })
}

func TestPushIsFoundToBeOffBehindAPooler(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	pooled := pgbouncer(t, dsn)(dsn)
	through := mustOpen(t, pooled+"&poll=100ms")
	events := watch(t, through)
	if on, why := awaitPush(t, through); on {
		t.Fatal(why)
	}
	for range 3 { // it looks by itself
		await(t, events, "anything", func(e store.Event) bool { return e.Topic == store.TopicAny })
	}
}

func TestListenURLLeadsPastThePooler(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	pooled := pgbouncer(t, dsn)(dsn)
	s := mustOpen(t, pooled+"&listen_url="+url.QueryEscape(dsn))
	other := mustOpen(t, pooled)
	events := watch(t, s)
	if on, why := awaitPush(t, s); !on {
		t.Fatal(why)
	}
	crowdSchedules(t, other, time.Now(), 1)
	await(t, events, "new schedules", func(e store.Event) bool { return e.Topic == store.TopicSchedules })
}

func TestListeningComesBackAfterItsConnectionWasCut(t *testing.T) {
	dsn := servers.Postgres(t).DSN
	s, other := mustOpen(t, dsn), mustOpen(t, dsn)
	events := watch(t, s)
	if on, why := awaitPush(t, s); !on {
		t.Fatal(why)
	}
	await(t, events, "its beginning", func(e store.Event) bool { return e.Topic == store.TopicAny })
	mustExec(t, admin(t, dsn), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'duly listen'")
	// When it is back, it tells that something may have gone unheard.
	await(t, events, "the gap", func(e store.Event) bool { return e.Topic == store.TopicAny })
	crowdSchedules(t, other, time.Now(), 1)
	await(t, events, "new schedules", func(e store.Event) bool { return e.Topic == store.TopicSchedules })
}
