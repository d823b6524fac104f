package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly/store"
)

// push says whether notifications arrive.
type push struct {
	mu    sync.Mutex
	state string
	on    bool
}

// Push reports whether notifications of other processes arrive, and says it in
// words: a pooler, for one, swallows LISTEN without an error. Where they do not,
// watchers look by themselves, so that all this is about is promptness. Nothing
// is known before somebody watches.
func (s *Store) Push() (on bool, why string) {
	p := &s.watchers.push
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == "" {
		return false, "nobody watches yet"
	}
	return p.on, p.state
}

func (p *push) set(on bool, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.on, p.state = on, why
}

const (
	// selfTest is how long a notification to ourselves may take.
	selfTest = 5 * time.Second
	// comeBack is how long the listener waits before it connects again, at
	// first and at most. Each wait is drawn at random, so that a server that
	// restarts is not met by all at once.
	comeBack    = 100 * time.Millisecond
	comeBackMax = 10 * time.Second
)

// message is the payload of a notification.
type message struct {
	From   string      `json:"from"`
	Test   bool        `json:"test,omitempty"`
	Topic  store.Topic `json:"topic,omitempty"`
	Object string      `json:"schedule,omitempty"`
}

// channel is the schema's, as notifications of a database reach all schemas.
func (s *Store) channel() string { return s.cfg.schema }

func randomName() string { return rand.Text() }

// listen hears what other processes did, over a connection of its own, until
// ctx ends.
func (w *watchers) listen(ctx context.Context, ended chan struct{}) {
	defer close(ended)
	wait := comeBack
	for ctx.Err() == nil {
		heard, err := w.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		w.push.set(false, "push off, polling: "+w.store.classify(err).Error())
		if heard {
			wait = comeBack
		}
		w.lookFor(ctx, mathrand.N(wait)+wait/2)
		wait = min(2*wait, comeBackMax)
	}
}

// lookFor wakes the watchers as often as polling says, for some time.
func (w *watchers) lookFor(ctx context.Context, span time.Duration) {
	over := time.NewTimer(span)
	defer over.Stop()
	look := time.NewTicker(w.store.cfg.poll)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			return
		case <-look.C:
			w.publish(events{store.TopicAny: ""})
		}
	}
}

// listenOnce listens as long as the connection lasts. heard is whether the test
// came through.
func (w *watchers) listenOnce(ctx context.Context) (heard bool, err error) {
	c, err := pgx.ConnectConfig(ctx, w.store.cfg.listen)
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := w.tune(ctx, c); err != nil {
		return false, err
	}
	w.publish(events{store.TopicAny: ""}) // what came before went unheard
	tested := make(chan struct{})
	go func() {
		defer close(tested)
		w.store.notifier.test(ctx)
	}()
	defer func() { <-tested }()
	for {
		until, cancel := context.WithTimeout(ctx, w.patience(heard))
		n, err := c.WaitForNotification(until)
		timedOut := until.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err != nil && timedOut && !heard:
			w.push.set(false, "push off, polling: a notification to ourselves did not come back within "+selfTest.String()+"; name a URL that leads past the pooler as listen_url")
			w.lookFor(ctx, 12*selfTest)
			return false, context.DeadlineExceeded
		case err != nil && timedOut:
			if err := w.ping(ctx, c); err != nil {
				return heard, err
			}
		case err != nil:
			return heard, err
		default:
			heard = w.hear(n.Payload) || heard
		}
	}
}

// tune begins to listen.
func (w *watchers) tune(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, selfTest)
	defer cancel()
	_, err := c.PgConn().Exec(ctx, "LISTEN "+w.store.dialect.schema).ReadAll()
	return err
}

// ping asks whether a connection still stands.
func (w *watchers) ping(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, selfTest)
	defer cancel()
	return c.Ping(ctx)
}

// patience is how long to wait for a notification: once the test was heard,
// until it is time to ask whether the connection still stands.
func (w *watchers) patience(heard bool) time.Duration {
	if !heard {
		return selfTest
	}
	return 30 * time.Second
}

// hear takes a notification and answers whether it was our own test.
func (w *watchers) hear(payload string) (test bool) {
	var m message
	if json.Unmarshal([]byte(payload), &m) != nil { // from who knows whom
		m.Topic = store.TopicAny
	}
	switch {
	case m.From == w.store.notifier.name:
		if m.Test {
			w.push.set(true, "push on")
		}
		return m.Test
	case !m.Test:
		w.publish(events{m.Topic: m.Object})
	}
	return false
}

// notifier tells other processes what this one did. Notifications are a
// wake-up and no part of the transaction they are about: a commit that notifies
// holds a lock of the whole server while it syncs, and would make all commits
// wait for each other. So they are sent apart, without a sync, and under load
// many are one.
type notifier struct {
	store  *Store
	name   string
	mu     sync.Mutex
	wait   events
	urgent bool // somebody may have something to do
	wake   chan struct{}
}

// How long a process keeps still after a notification, but for what it gathers:
// where others may have something to do, and where there is only something to
// see.
const (
	urgentGap = 5 * time.Millisecond
	newsGap   = 100 * time.Millisecond
	// lastWords is how long the last notification of a process that leaves may
	// take.
	lastWords = time.Second
)

func (n *notifier) init(s *Store) {
	n.store, n.name, n.wake = s, randomName(), make(chan struct{}, 1)
	if s.readOnly {
		return
	}
	s.behind.Go(n.loop)
}

func (n *notifier) tell(e events, urgent bool) {
	if len(e) == 0 {
		return
	}
	n.mu.Lock()
	n.wait.merge(e)
	n.urgent = n.urgent || urgent
	n.mu.Unlock()
	signal(n.wake)
}

func (n *notifier) loop() {
	var last time.Time
	for {
		select {
		case <-n.store.over.Done():
			n.flush(lastWords)
			return
		case <-n.wake:
		}
		for still := n.still(last); still > 0; still = n.still(last) {
			select {
			case <-n.store.over.Done():
			case <-n.wake:
				continue
			case <-time.After(still):
			}
			break
		}
		n.flush(selfTest)
		last = time.Now()
	}
}

// still is how much longer to keep still.
func (n *notifier) still(last time.Time) time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	gap := newsGap
	if n.urgent {
		gap = urgentGap
	}
	return gap - time.Since(last)
}

func (n *notifier) flush(limit time.Duration) {
	n.mu.Lock()
	taken := n.wait
	n.wait, n.urgent = nil, false
	n.mu.Unlock()
	if len(taken) == 0 {
		return
	}
	var payloads []string
	for topic, schedule := range taken {
		text, _ := json.Marshal(message{From: n.name, Topic: topic, Object: schedule}) // strings always marshal
		payloads = append(payloads, string(text))
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = n.send(ctx, payloads) // those who are not woken look by themselves
}

// test sends a notification to ourselves. Where that fails it does not come
// back either.
func (n *notifier) test(ctx context.Context) {
	text, _ := json.Marshal(message{From: n.name, Test: true}) // strings always marshal
	_ = n.send(ctx, []string{string(text)})
}

func (n *notifier) send(ctx context.Context, payloads []string) error {
	ctx, cancel := context.WithTimeout(ctx, selfTest)
	defer cancel()
	pc, err := n.store.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pc.Release()
	c := newConn(ctx, &n.store.dialect, pc.Conn())
	_, err = c.exec("SELECT set_config('synchronous_commit', 'off', true), pg_notify(?, payload) FROM unnest(?::text[]) u (payload)", n.store.channel(), payloads)
	return err
}
