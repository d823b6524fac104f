package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// conn is a connection in use by one goroutine for one transaction. Statements
// whose answers can wait are put in line by later, and travel with the next one
// that is waited for: a round trip carries everything known at its time.
type conn struct {
	*dialect
	ctx   context.Context
	pc    *pgx.Conn // nil in an application's transaction
	via   carrier
	line  *pgx.Batch
	steps []step
	// patience is how long a line may take, without end where it is zero. The
	// server gives up on a statement by itself; this is for one that hangs.
	patience time.Duration
	// answered: the server has answered something; committing: it has been
	// asked to commit; silent: it has not answered in time.
	answered, committing, silent bool
}

// carrier takes a line of statements to the server, and answers to their steps.
type carrier interface {
	carry(ctx context.Context, line *pgx.Batch, steps []step) error
}

// step is what to do with the answer to a statement in the line.
type step struct {
	scan func(row) error
	rows *int64 // changed
}

func newConn(ctx context.Context, d *dialect, pc *pgx.Conn) *conn {
	return &conn{dialect: d, ctx: ctx, pc: pc, via: pipeline{pc}, line: &pgx.Batch{}}
}

// later puts a statement in line.
func (c *conn) later(query string, args ...any) { c.enqueue(query, args, step{}) }

// ask puts a query in line; scan is called with each row when it is sent.
func (c *conn) ask(query string, args []any, scan func(row) error) {
	c.enqueue(query, args, step{scan: scan})
}

func (c *conn) enqueue(query string, args []any, s step) {
	c.line.Queue(c.sql(query), args...)
	c.steps = append(c.steps, s)
}

// send sends what is in line and reads the answers, in one round trip.
func (c *conn) send() error {
	if len(c.steps) == 0 {
		return nil
	}
	line, steps := c.line, c.steps
	c.line, c.steps = &pgx.Batch{}, nil
	ctx, cancel := c.ctx, context.CancelFunc(func() {})
	if c.patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, c.patience)
	}
	defer cancel()
	err := c.via.carry(ctx, line, steps)
	c.answered = c.answered || err == nil
	c.silent = err != nil && ctx.Err() != nil
	return err
}

// pipeline is the carrier of pgx: one round trip for all.
type pipeline struct {
	to interface {
		SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	}
}

func (p pipeline) carry(ctx context.Context, line *pgx.Batch, steps []step) error {
	answers := p.to.SendBatch(ctx, line)
	var failed error
	for _, s := range steps {
		if failed = s.read(answers); failed != nil {
			break
		}
	}
	if err := answers.Close(); failed == nil {
		failed = err
	}
	return failed
}

// stale reports whether a connection turned out to be dead at its first use, as
// all idle ones are after a restart of the server. Then nothing has happened,
// and taking another one is right.
func (c *conn) stale(err error) bool {
	if c.answered || c.committing || c.silent {
		return pgconn.SafeToRetry(err)
	}
	return c.pc.IsClosed() && (state(err) == "" || strings.HasPrefix(state(err), "57P"))
}

func (s step) read(answers pgx.BatchResults) error {
	rows, err := answers.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	fields := rows.FieldDescriptions()
	for rows.Next() {
		if s.scan == nil {
			continue
		}
		if err := s.scan(row{rows.RawValues(), fields}); err != nil {
			return err
		}
	}
	rows.Close()
	if s.rows != nil {
		*s.rows = rows.CommandTag().RowsAffected()
	}
	return rows.Err()
}

// exec runs a statement and answers how many rows it changed.
func (c *conn) exec(query string, args ...any) (n int64, err error) {
	c.enqueue(query, args, step{rows: &n})
	return n, c.send()
}

// query calls scan with each row.
func (c *conn) query(query string, args []any, scan func(row) error) error {
	c.ask(query, args, scan)
	return c.send()
}

// one reads the first row; found is false where there is none.
func (c *conn) one(query string, args []any, scan func(row)) (found bool, err error) {
	err = c.query(query, args, func(r row) error {
		if !found {
			scan(r)
		}
		found = true
		return nil
	})
	return found, err
}

// number reads one number, 0 for NULL or no row.
func (c *conn) number(query string, args ...any) (n int64, err error) {
	_, err = c.one(query, args, func(r row) { n = r.int(0) })
	return n, err
}

// clock is the store's now, or the instant that a request gives.
func (c *conn) clock(given time.Time) (int64, error) {
	if !given.IsZero() {
		return given.UnixMicro(), nil
	}
	return c.number("SELECT duly.clock()")
}

// undo ends a transaction that failed. The caller may be gone already, so it
// has a time of its own; where it fails too, the pool drops the connection.
func (c *conn) undo() {
	if c.pc.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), 2*time.Second)
	defer cancel()
	_, _ = c.pc.PgConn().Exec(ctx, "ROLLBACK").ReadAll()
}
