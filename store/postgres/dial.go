package postgres

import (
	"net"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// connectLimit is how long a server may take to let a node in. A host that
	// is switched off answers nothing at all, and the one that took its place
	// is asked only after it.
	connectLimit = 5 * time.Second
	// silence is how long what was sent may stay unacknowledged, and what is
	// idle unheard of, until a connection counts as dead: networks forget
	// connections without a word to either end.
	silence = 15 * time.Second
)

// dialing makes the connections of a configuration notice when there is no way
// to the server any more.
func dialing(cc *pgx.ConnConfig) {
	if cc.ConnectTimeout == 0 {
		cc.ConnectTimeout = connectLimit
	}
	d := &net.Dialer{
		Timeout: cc.ConnectTimeout, Control: unacknowledged,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: silence, Interval: silence / 3, Count: 3},
	}
	cc.DialFunc = d.DialContext
}
