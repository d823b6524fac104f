package pgxeffect

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/duly-dev/duly/internal/sqldb"
)

// send runs statements in one round trip.
func send(ctx context.Context, tx pgx.Tx, all []sqldb.Statement) error {
	line := &pgx.Batch{}
	queue(line, all)
	answers := tx.SendBatch(ctx, line)
	err := read(answers, all)
	if closed := answers.Close(); err == nil {
		err = closed
	}
	return err
}

func queue(line *pgx.Batch, all []sqldb.Statement) {
	for _, s := range all {
		line.Queue(sqldb.Postgres.Rebind(s.Query), s.Args...)
	}
}

func read(answers pgx.BatchResults, all []sqldb.Statement) error {
	for _, s := range all {
		if err := readOne(answers, s); err != nil {
			return err
		}
	}
	return nil
}

func readOne(answers pgx.BatchResults, s sqldb.Statement) error {
	if s.Each == nil {
		tag, err := answers.Exec()
		if err != nil || s.Changed == nil {
			return err
		}
		return s.Changed(tag.RowsAffected())
	}
	rows, err := answers.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := s.Each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// preceded is a transaction whose next batch takes statements along. An error of
// the server's about them is the batch's too.
type preceded struct {
	pgx.Tx
	first []sqldb.Statement
	err   error
}

func (p *preceded) SendBatch(ctx context.Context, line *pgx.Batch) pgx.BatchResults {
	if len(p.first) == 0 {
		return p.Tx.SendBatch(ctx, line)
	}
	all := &pgx.Batch{}
	queue(all, p.first)
	all.QueuedQueries = append(all.QueuedQueries, line.QueuedQueries...)
	answers := p.Tx.SendBatch(ctx, all)
	p.err = lost(p.Tx.Conn(), read(answers, p.first))
	p.first = nil
	return answers
}
