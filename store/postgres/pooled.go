package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"net"

	"github.com/jackc/pgx/v5"
)

// withoutCancels keeps requests to cancel a statement from a pooler: the driver
// sends one for each call that is given up, and pgbouncer 1.18, which Debian 12
// has, can end itself over them (its issues 801 and 822). A statement that is
// given up ends by its time limit. Where the way to the pooler is encrypted the
// requests cannot be told apart and go through.
func withoutCancels(cc *pgx.ConnConfig) {
	dial := cc.DialFunc
	cc.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &uncancelled{Conn: c}, nil
	}
}

// cancelRequest is the code of such a request in the protocol's first message.
const cancelRequest = 80877102

var errNotSent = errors.New("a pooler is not asked to cancel")

type uncancelled struct {
	net.Conn
	begun bool // the first message is sent
}

func (c *uncancelled) Write(message []byte) (int, error) {
	if !c.begun && len(message) >= 8 && binary.BigEndian.Uint32(message[4:]) == cancelRequest {
		return 0, errNotSent
	}
	c.begun = true
	return c.Conn.Write(message)
}
