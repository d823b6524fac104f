package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// get reads one thing.
func get[T any](ctx context.Context, c *Client, path string, q params) (T, error) {
	var out T
	err := c.do(ctx, http.MethodGet, prefix+path, q.Values, nil, &out)
	return out, err
}

func schedulePath(id string) string   { return "/schedules/" + url.PathEscape(id) }
func queuePath(name string) string    { return "/queues/" + url.PathEscape(name) }
func occurrencePath(id string) string { return "/occurrences/" + url.PathEscape(id) }

// Schedules lists definitions with where they stand, by ID.
func (c *Client) Schedules(ctx context.Context, q ScheduleQuery) (List[store.ScheduleStatus], error) {
	return get[List[store.ScheduleStatus]](ctx, c, "/schedules", query().text("prefix", q.Prefix).text("owner", q.Owner).
		text("queue", q.Queue).choice("paused", q.Paused).choice("orphaned", q.Orphaned).page(q.Page))
}

// Schedule reads one. Code not_found where there is none.
func (c *Client) Schedule(ctx context.Context, id string) (store.ScheduleStatus, error) {
	return get[store.ScheduleStatus](ctx, c, schedulePath(id), query())
}

// Upcoming lists when a schedule comes due next.
func (c *Client) Upcoming(ctx context.Context, id string, q UpcomingQuery) (List[Upcoming], error) {
	return get[List[Upcoming]](ctx, c, schedulePath(id)+"/upcoming", query().count("n", q.N).instant("from", q.From))
}

// Occurrences lists them, newest first, with attempts but without their output.
func (c *Client) Occurrences(ctx context.Context, q OccurrenceQuery) (List[duly.Occurrence], error) {
	p := query().text("schedule", q.Schedule).flag("attention", q.Attention).instant("from", q.From).instant("to", q.To).page(q.Page)
	for _, s := range q.States {
		p.Add("state", string(s))
	}
	return get[List[duly.Occurrence]](ctx, c, "/occurrences", p)
}

// Occurrence reads one with its attempts and effects. Code not_found where
// there is none.
func (c *Client) Occurrence(ctx context.Context, id string) (duly.Occurrence, error) {
	return get[duly.Occurrence](ctx, c, occurrencePath(id), query())
}

// Effects lists recorded effects.
func (c *Client) Effects(ctx context.Context, q EffectQuery) (List[store.EffectStatus], error) {
	return get[List[store.EffectStatus]](ctx, c, "/effects", query().text("key", q.Key).text("prefix", q.Prefix).
		text("occurrence", q.Occurrence).page(q.Page))
}

// Queues lists the shared queues and their load.
func (c *Client) Queues(ctx context.Context) (List[store.QueueStatus], error) {
	return get[List[store.QueueStatus]](ctx, c, "/queues", query())
}

// Nodes lists the sessions of nodes, live ones first.
func (c *Client) Nodes(ctx context.Context) (List[Node], error) {
	return get[List[Node]](ctx, c, "/nodes", query())
}

// Leases lists the named leases.
func (c *Client) Leases(ctx context.Context) (List[duly.Lease], error) {
	return get[List[duly.Lease]](ctx, c, "/leases", query())
}

// Audit lists changes, newest first.
func (c *Client) Audit(ctx context.Context, q AuditQuery) (List[store.AuditRow], error) {
	return get[List[store.AuditRow]](ctx, c, "/audit", query().text("object", q.Object).page(q.Page))
}

// Stats reads counts for status pages.
func (c *Client) Stats(ctx context.Context) (store.Stats, error) {
	return get[store.Stats](ctx, c, "/stats", query())
}

// Ready returns nil where the server is up and its store answers.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/readyz", nil, nil, nil)
}
