package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Events calls notify for what changes, until ctx ends or the connection does;
// topics narrow it. The first event is always of topic any, since what happened
// before is unknown: look at everything, then at what events name. Events may
// be merged, repeated or lost.
func (c *Client) Events(ctx context.Context, topics []store.Topic, notify func(store.Event)) error {
	q := query()
	for _, t := range topics {
		q.Add("topic", string(t))
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	resp, err := c.send(ctx, http.MethodGet, prefix+"/events", q.Values, nil, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data:")
		if !found {
			continue // a comment, or the end of an event
		}
		var e store.Event
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return duly.Errorf(duly.CodeInternal, "an event cannot be read: %w", err)
		}
		notify(e)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := c.broken(ctx, lines.Err()); err != nil {
		return err
	}
	return duly.Errorf(duly.CodeUnavailable, "server %s ended the stream of events", c.base)
}
