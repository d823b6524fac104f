package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

var _ store.Joiner = (*Store)(nil)

// FinishIn implements store.Joiner. It takes a *sql.Tx (or what has its methods)
// of whatever driver, on the store's file. That transaction is the file's one
// writer until it ends, and the store's own writer waits for it. The events of
// this process come with the report that the node sends afterwards, or by
// looking at the file, as those of other processes.
func (s *Store) FinishIn(ctx context.Context, native any, r store.Report) (store.Finished, error) {
	var none store.Finished
	switch {
	case s.readOnly:
		return none, duly.Errorf(duly.CodeInvalid, "%s was opened for reading only", s.cfg.path)
	case r.Outcome != duly.AttemptSucceeded || r.Next.State != duly.Succeeded:
		return none, duly.Invalid("outcome", "is %q: only a success can be a part of the application's transaction", r.Outcome)
	}
	app, err := s.join(ctx, native)
	if err != nil {
		return none, err
	}
	answer, err := app.finish(s, r)
	if err != nil {
		return none, s.classify(err)
	}
	return answer, answer.Err
}

// appTx is an application's transaction, of database/sql.
type appTx struct {
	ctx context.Context
	in  statements
}

type statements interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func (s *Store) join(ctx context.Context, native any) (*appTx, error) {
	switch in := native.(type) {
	case *sql.Tx:
		if in == nil {
			return nil, duly.Invalid("tx", "is a nil *sql.Tx")
		}
	case *sql.DB:
		return nil, duly.Invalid("tx", "is a *sql.DB, whose statements are in no transaction: begin one")
	}
	in, ok := native.(statements)
	if !ok {
		return nil, duly.Invalid("tx", "is a %T; %s joins a *sql.Tx", native, s.cfg.path)
	}
	return &appTx{ctx, in}, nil
}

func (a *appTx) finish(s *Store, r store.Report) (none store.Finished, err error) {
	if err := a.atHome(s); err != nil {
		return none, err
	}
	t := newTx(&conn{app: a}, newKnown())
	f := &finishing{endings: newEndings(t, now())}
	found, err := t.occs([]int64{r.Seq})
	if err != nil {
		return none, err
	}
	o := found[r.Seq]
	if refused := superseded(o, r.Token); refused != nil {
		return store.Finished{Schedule: o.schedule, Period: o.period, State: stateCodes[o.state], Err: refused}, nil
	}
	answer, err := f.report(&r, o)
	if err != nil || answer.Err != nil {
		return answer, err
	}
	if o.state != succeeded || outcomeCodes[o.outcome] != duly.AttemptSucceeded {
		answer.Err = duly.Errorf(duly.CodeStaleToken, "%s: this attempt has ended as %s; it cannot succeed any more", o.id(), outcomeCodes[o.outcome])
		return answer, nil
	}
	if err := f.close(); err != nil {
		return none, err
	}
	return answer, t.flush()
}

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

// atHome makes sure that the transaction is on the store's own file.
func (a *appTx) atHome(s *Store) error {
	if err := s.file.check(); err != nil {
		return err
	}
	path := ""
	err := a.query("SELECT file FROM pragma_database_list WHERE name = 'main'", nil, func(r row) error {
		path = r.str(0)
		return nil
	})
	if err != nil && a.ctx.Err() == nil && primary(err) == 0 && !errors.Is(err, sql.ErrTxDone) {
		return duly.Invalid("tx", "does not answer as one of SQLite does, where the store is %s: %v", s.cfg.path, err)
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && os.SameFile(info, s.file.opened) {
		return nil
	}
	if path == "" {
		path = "kept in memory"
	}
	return duly.Invalid("tx", "is in the database %s, and the store is %s: an attempt can be finished only in a transaction of its store's own file", path, s.cfg.path)
}

func (a *appTx) exec(query string, args []any) (int64, error) {
	res, err := a.in.ExecContext(a.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// query reads all rows before it hands them on, since not every driver runs a
// statement while another is being read.
func (a *appTx) query(query string, args []any, scan func(row) error) error {
	all, err := a.read(query, args)
	if err != nil {
		return err
	}
	for _, r := range all {
		if err := scan(r); err != nil {
			return err
		}
	}
	return nil
}

func (a *appTx) read(query string, args []any) ([]row, error) {
	rows, err := a.in.QueryContext(a.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all []row
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range dest {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		r := make(row, len(columns))
		for i, v := range values {
			if text, ok := v.([]byte); ok { // how some drivers answer text
				v = string(text)
			}
			r[i] = v
		}
		all = append(all, r)
	}
	return all, rows.Err()
}
