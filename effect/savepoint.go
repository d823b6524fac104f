package effect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/internal/sqldb"
)

// savepoint calls fn in an open transaction, and takes back what it did where it
// fails or panics. The name is made of the key's, since in MySQL a second
// savepoint of the same name would replace that of an effect around this one.
func savepoint(ctx context.Context, tx Tx, e effect, fn func() error) error {
	sum := sha256.Sum256([]byte(e.key))
	name := "duly_" + hex.EncodeToString(sum[:12])
	if _, err := tx.Exec(ctx, "SAVEPOINT "+name); err != nil {
		return sqldb.Explain(ctx, tx, e.name(), err)
	}
	returned := false
	defer func() {
		if !returned { // a panic passes through; what it left does not
			_ = takeBack(ctx, tx, name)
		}
	}()
	err := fn()
	returned = true
	if err != nil {
		if undo := takeBack(ctx, tx, name); undo != nil {
			undo = duly.Errorf(duly.CodeUnavailable, "%s failed and could not be taken back alone; roll the whole transaction back: %w", e.name(), undo)
			return errors.Join(err, undo)
		}
		return err
	}
	if _, err := tx.Exec(ctx, "RELEASE SAVEPOINT "+name); err != nil {
		return sqldb.Explain(ctx, tx, e.name(), err)
	}
	return nil
}

// takeBack works even where ctx has ended.
func takeBack(ctx context.Context, tx Tx, name string) error {
	ctx = context.WithoutCancel(ctx)
	for _, stmt := range []string{"ROLLBACK TO SAVEPOINT ", "RELEASE SAVEPOINT "} {
		if _, err := tx.Exec(ctx, stmt+name); err != nil {
			return err
		}
	}
	return nil
}
