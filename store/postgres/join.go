package postgres

import (
	"context"
	"database/sql"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

var _ store.Joiner = (*Store)(nil)

// FinishIn implements store.Joiner. It takes a pgx.Tx, whose statements travel
// together, or a *sql.Tx (or what has its methods) of whatever driver, where
// each is a round trip. Notifications are not sent, as they would keep all
// commits of the server in line: the report that the node sends afterwards
// wakes others, or else they look by themselves.
func (s *Store) FinishIn(ctx context.Context, native any, r store.Report) (store.Finished, error) {
	var none store.Finished
	switch {
	case s.readOnly:
		return none, duly.Errorf(duly.CodeInvalid, "%s was opened for reading only", s.cfg.name)
	case s.over.Err() != nil:
		return none, errClosed
	case r.Outcome != duly.AttemptSucceeded || r.Next.State != duly.Succeeded:
		return none, duly.Invalid("outcome", "is %q: only a success can be a part of the application's transaction", r.Outcome)
	}
	j, err := s.join(ctx, native)
	if err != nil {
		return none, err
	}
	answer, err := protect(j.tx, func(*tx) (store.Finished, error) { return j.finish(r) })
	if err != nil {
		return none, s.classify(err)
	}
	return answer, answer.Err
}

// joining is a step in an application's transaction.
type joining struct {
	*tx
	app *pgx.Conn // where it is pgx's
}

func (s *Store) join(ctx context.Context, native any) (*joining, error) {
	j := &joining{tx: &tx{conn: newConn(ctx, &s.dialect, nil), s: s, skips: map[skipKey]int64{}}}
	switch in := native.(type) {
	case pgx.Tx:
		j.via, j.app = pipeline{in}, in.Conn()
		return j, nil
	case *sql.Tx:
		if in == nil {
			return nil, duly.Invalid("tx", "is a nil *sql.Tx")
		}
	case *sql.DB:
		return nil, duly.Invalid("tx", "is a *sql.DB, whose statements are in no transaction: begin one")
	}
	in, ok := native.(statements)
	if !ok {
		return nil, duly.Invalid("tx", "is a %T; %s joins a pgx.Tx or a *sql.Tx", native, s.cfg.name)
	}
	j.via = oneByOne{in}
	return j, nil
}

// momentary is the clock as of the statement: the application's transaction may
// have begun long ago.
const momentary = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

func (j *joining) finish(r store.Report) (none store.Finished, err error) {
	if err := j.atHome(); err != nil {
		return none, err
	}
	if isPlain(&r) {
		if answer, done, err := j.finishPlain(&r); done || err != nil {
			return answer, err
		}
	}
	j.later(borrowed)
	f := &finishing{endings: newEndings(j.tx, 0)}
	j.ask("SELECT "+momentary, nil, func(r row) error {
		f.now = r.int(0)
		return nil
	})
	found := map[int64]*occ{}
	f.askReported([]store.Report{r}, found, "")
	if err := f.send(); err != nil {
		return none, err
	}
	if err := f.readEnded([]int64{r.Seq}, found); err != nil {
		return none, err
	}
	o := found[r.Seq]
	if refused := superseded(o, r.Token); refused != nil {
		return store.Finished{Schedule: o.schedule, Period: o.period, State: stateCodes[o.state], Err: refused}, nil
	}
	answers, err := f.take([]store.Report{r}, found)
	if err != nil {
		return none, err
	}
	answer := answers[0]
	if answer.Err == nil && (o.state != succeeded || outcomeCodes[o.outcome] != duly.AttemptSucceeded) {
		answer.Err = duly.Errorf(duly.CodeStaleToken, "%s: this attempt has ended as %s; it cannot succeed any more", o.id(), outcomeCodes[o.outcome])
	}
	if answer.Err != nil {
		return answer, nil // and what is in line is not sent
	}
	j.flushSkips()
	j.flushTallyApart()
	return answer, j.send()
}

// borrowed sets how plans are made until the application's transaction ends.
var borrowed = func() string {
	var set []string
	for _, p := range planning {
		set = append(set, "set_config('"+p.name+"', '"+p.value+"', true)")
	}
	return "SELECT " + strings.Join(set, ", ")
}()

// superseded refuses a token that is not the newest. What is kept of such a
// report is kept by Finish.
func superseded(o *occ, token int64) error {
	switch {
	case o == nil || o.token == token:
		return nil
	case o.token > token:
		return duly.Errorf(duly.CodeStaleToken, "%s: token %d was superseded by %d", o.id(), token, o.token)
	}
	return duly.Errorf(duly.CodeNotFound, "%s has no attempt with token %d", o.id(), token)
}

// place is a schema as nothing else is: of a database, of a server that was
// started at an instant. Copies of a database differ in that, too.
type place struct{ server, database, schema int64 }

// place asks where a connection's statements go. It cannot fail for want of
// tables, which would doom the application's transaction.
func (c *conn) place(schema string) (at place, name string, err error) {
	_, err = c.one(`SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, (SELECT oid::bigint FROM pg_database WHERE datname = current_database()),
			coalesce(to_regnamespace(?)::oid::bigint, 0), current_database() || ' at ' || coalesce(host(inet_server_addr()), 'a local socket') || ':' || current_setting('port')`,
		[]any{schema}, func(r row) {
			at, name = place{r.int(0), r.int(1), r.int(2)}, r.str(3)
		})
	return at, name, err
}

// atHome makes sure that the application's transaction is in the store's own
// database. A connection of pgx is asked once in its life.
func (j *joining) atHome() error {
	s := j.s
	if j.app != nil && s.home.is(j.app.PgConn().CustomData()[customData]) {
		return nil
	}
	at, name, err := j.place(s.dialect.schema)
	if err != nil && state(err) == "" && !disconnected(err) && j.ctx.Err() == nil {
		return duly.Invalid("tx", "does not answer as one of PostgreSQL does, where the store is %s: %v", s.cfg.name, err)
	}
	if err != nil {
		return err
	}
	if !s.home.is(at) {
		// The server may have been started anew since.
		if err := s.home.learn(j.ctx, s); err != nil {
			return err
		}
	}
	if !s.home.is(at) {
		return duly.Invalid("tx", "is in the database %s, and the store is %s, schema %s in %s: an attempt can be finished only in a transaction of its store's own database",
			name, s.cfg.name, s.dialect.schema, s.home.called())
	}
	if j.app != nil {
		j.app.PgConn().CustomData()[customData] = at
	}
	return nil
}

// customData is where a connection of the application says its place.
const customData = "github.com/duly-dev/duly/store/postgres"
