package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
	"github.com/duly-dev/duly/effect/pgxeffect"
	"github.com/duly-dev/duly/node"
)

// joinedWorkers is how many transactions of the application are open at once.
const joinedWorkers = 32

// joined: effects whose attempt is finished by their own commit, in an
// application whose database holds the store.
func joined(ctx context.Context, o *Options) error {
	const batch = 500
	if err := joinedRate(ctx, o, "joined_effects_per_s", max(1, o.Lifecycles/5), 1,
		"%d attempts at %d effect each: a business row, its key in the ledger and the completion in one durable commit; %d transactions at once; firing and claiming are in the time"); err != nil {
		return err
	}
	return joinedRate(ctx, o, "joined_effects_batch_per_s", max(1, o.Lifecycles/batch), batch,
		"%d attempts at %d effects each: business rows, keys in the ledger and the completion in one durable commit; %d transactions at once; firing and claiming are in the time")
}

func joinedRate(ctx context.Context, o *Options, figure string, attempts, effects int, note string) error {
	st, storeURL, err := o.Fresh(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	app, err := openBilling(ctx, o.StoreName, storeURL)
	if err != nil {
		return err
	}
	defer app.close()
	every := duly.Schedule{
		Timing: duly.Timing{Every: duly.Duration(time.Minute)}, Overlap: duly.OverlapAllow,
		CatchUp: duly.CatchUp{Policy: duly.CatchUpAll}, Target: duly.Target{Handler: "bill"},
	}
	if err := create(ctx, st, time.Now().Add(-time.Minute).Truncate(time.Second), attempts, every); err != nil {
		return err
	}
	var done atomic.Int64
	finished := make(chan error, 1)
	n := newNode(st, 2*joinedWorkers)
	n.Handle("bill", func(ctx context.Context, occ *node.Occurrence) error {
		err := app.bill(effect.Completing(ctx), occ.Schedule, effects)
		if err != nil {
			select {
			case finished <- err:
			default:
			}
		} else if done.Add(1) == int64(attempts) {
			close(finished)
		}
		return err
	})
	start := time.Now()
	stop := runNode(ctx, n)
	select {
	case err = <-finished:
	case <-ctx.Done():
		err = ctx.Err()
	}
	took := time.Since(start)
	stop()
	if err != nil {
		return err
	}
	if err := expectSucceeded(ctx, st, int64(attempts)); err != nil {
		return err
	}
	if bills, err := app.count(ctx); err != nil || bills != attempts*effects {
		return errors.Join(err, fmt.Errorf("%d business rows of %d", bills, attempts*effects))
	}
	o.report(figure, float64(attempts*effects)/took.Seconds(), "1/s", note, attempts, effects, joinedWorkers)
	return nil
}

// billing is an application whose database holds the store.
type billing struct {
	bill  func(ctx context.Context, period string, effects int) error
	count func(ctx context.Context) (int, error)
	close func()
}

const makeBills = "CREATE TABLE bills (period TEXT NOT NULL, customer BIGINT NOT NULL, cents BIGINT NOT NULL, PRIMARY KEY (period, customer))"

func openBilling(ctx context.Context, kind, storeURL string) (*billing, error) {
	if kind == "postgres" {
		return openPostgresBilling(ctx, storeURL)
	}
	path, query, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(storeURL, "sqlite:"), "//"), "?")
	synchronous := "full"
	if values, err := url.ParseQuery(query); err == nil && values.Get("synchronous") != "" {
		synchronous = values.Get("synchronous")
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(60000)&_pragma=synchronous("+synchronous+")&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(joinedWorkers)
	db.SetMaxIdleConns(joinedWorkers)
	handle := effect.SQLite.DB(db)
	_, err = db.ExecContext(ctx, makeBills)
	if err == nil {
		err = effect.Migrate(ctx, handle)
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	insert := func(ctx context.Context, tx *sql.Tx, period string, missing []int) error {
		query := "INSERT INTO bills VALUES " + strings.TrimSuffix(strings.Repeat("(?,?,4900),", len(missing)), ",")
		args := make([]any, 0, 2*len(missing))
		for _, customer := range missing {
			args = append(args, period, customer)
		}
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
	return &billing{
		bill: func(ctx context.Context, period string, effects int) error {
			return billCustomers(ctx, handle, period, effects, insert)
		},
		count: func(ctx context.Context) (n int, err error) {
			err = db.QueryRowContext(ctx, "SELECT count(*) FROM bills").Scan(&n)
			return n, err
		},
		close: func() { _ = db.Close() },
	}, nil
}

// openPostgresBilling keeps the application's tables in the store's schema,
// which is removed afterwards.
func openPostgresBilling(ctx context.Context, storeURL string) (*billing, error) {
	u, err := url.Parse(storeURL)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Set("search_path", q.Get("schema"))
	for _, ours := range []string{"schema", "pgbouncer", "listen_url"} {
		q.Del(ours)
	}
	q.Set("pool_max_conns", fmt.Sprint(joinedWorkers))
	u.RawQuery = q.Encode()
	pool, err := pgxpool.New(ctx, u.String())
	if err != nil {
		return nil, err
	}
	handle := pgxeffect.DB(pool)
	_, err = pool.Exec(ctx, makeBills)
	if err == nil {
		err = effect.Migrate(ctx, handle)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	insert := func(ctx context.Context, tx pgx.Tx, period string, missing []int) error {
		if len(missing) == 1 {
			_, err := tx.Exec(ctx, "INSERT INTO bills VALUES ($1, $2, 4900)", period, missing[0])
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO bills SELECT $1, customer, 4900 FROM unnest($2::bigint[]) u (customer)", period, missing)
		return err
	}
	return &billing{
		bill: func(ctx context.Context, period string, effects int) error {
			return billCustomers(ctx, handle, period, effects, insert)
		},
		count: func(ctx context.Context) (n int, err error) {
			err = pool.QueryRow(ctx, "SELECT count(*) FROM bills").Scan(&n)
			return n, err
		},
		close: pool.Close,
	}, nil
}

// billCustomers has one effect by itself, or many in a batch.
func billCustomers[X any](ctx context.Context, db effect.DB[X], period string, effects int, insert func(ctx context.Context, tx X, period string, missing []int) error) error {
	if effects == 1 {
		_, _, err := effect.Do(ctx, db, "bill/"+period, func(ctx context.Context, tx X) (struct{}, error) {
			return struct{}{}, insert(ctx, tx, period, []int{0})
		})
		return err
	}
	customers := make([]int, effects)
	for i := range customers {
		customers[i] = i
	}
	_, _, err := effect.DoBatch(ctx, db, effects, customers, func(customer int) string { return fmt.Sprintf("bill/%s/%d", period, customer) },
		func(ctx context.Context, tx X, missing []int) ([]struct{}, error) {
			return make([]struct{}, len(missing)), insert(ctx, tx, period, missing)
		})
	return err
}
