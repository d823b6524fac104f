package storetest

import (
	"context"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// Every method of the contract goes down the line.

// Fire implements store.Store.
func (f *Faulty) Fire(ctx context.Context, req store.FireRequest) (store.FireResult, error) {
	return through(ctx, f, "Fire", func() (store.FireResult, error) { return f.st.Fire(ctx, req) })
}

// Horizon implements store.Store.
func (f *Faulty) Horizon(ctx context.Context) (store.Horizon, error) {
	return through(ctx, f, "Horizon", func() (store.Horizon, error) { return f.st.Horizon(ctx) })
}

// Claim implements store.Store.
func (f *Faulty) Claim(ctx context.Context, req store.ClaimRequest) (store.ClaimResult, error) {
	return through(ctx, f, "Claim", func() (store.ClaimResult, error) { return f.st.Claim(ctx, req) })
}

// Renew implements store.Store.
func (f *Faulty) Renew(ctx context.Context, node int64, items []store.Renewal) ([]store.Renewed, error) {
	return through(ctx, f, "Renew", func() ([]store.Renewed, error) { return f.st.Renew(ctx, node, items) })
}

// Finish implements store.Store.
func (f *Faulty) Finish(ctx context.Context, node int64, reports []store.Report) ([]store.Finished, error) {
	return through(ctx, f, "Finish", func() ([]store.Finished, error) { return f.st.Finish(ctx, node, reports) })
}

// RecordUnowned implements store.Store.
func (f *Faulty) RecordUnowned(ctx context.Context, done []store.UnownedReport) error {
	return do(ctx, f, "RecordUnowned", func() error { return f.st.RecordUnowned(ctx, done) })
}

// Reap implements store.Store.
func (f *Faulty) Reap(ctx context.Context, req store.ReapRequest) (store.ReapResult, error) {
	return through(ctx, f, "Reap", func() (store.ReapResult, error) { return f.st.Reap(ctx, req) })
}

// Apply implements store.Store.
func (f *Faulty) Apply(ctx context.Context, req store.ApplyRequest) (store.ApplyResult, error) {
	return through(ctx, f, "Apply", func() (store.ApplyResult, error) { return f.st.Apply(ctx, req) })
}

// Declare implements store.Store.
func (f *Faulty) Declare(ctx context.Context, req store.DeclareRequest) (store.ApplyResult, error) {
	return through(ctx, f, "Declare", func() (store.ApplyResult, error) { return f.st.Declare(ctx, req) })
}

// Insert implements store.Store.
func (f *Faulty) Insert(ctx context.Context, req store.InsertRequest) ([]store.Inserted, error) {
	return through(ctx, f, "Insert", func() ([]store.Inserted, error) { return f.st.Insert(ctx, req) })
}

// Pause implements store.Store.
func (f *Faulty) Pause(ctx context.Context, req store.PauseRequest) error {
	return do(ctx, f, "Pause", func() error { return f.st.Pause(ctx, req) })
}

// Resume implements store.Store.
func (f *Faulty) Resume(ctx context.Context, req store.ResumeRequest) error {
	return do(ctx, f, "Resume", func() error { return f.st.Resume(ctx, req) })
}

// PauseQueue implements store.Store.
func (f *Faulty) PauseQueue(ctx context.Context, req store.PauseQueueRequest) error {
	return do(ctx, f, "PauseQueue", func() error { return f.st.PauseQueue(ctx, req) })
}

// ResumeQueue implements store.Store.
func (f *Faulty) ResumeQueue(ctx context.Context, req store.ResumeQueueRequest) error {
	return do(ctx, f, "ResumeQueue", func() error { return f.st.ResumeQueue(ctx, req) })
}

// Retry implements store.Store.
func (f *Faulty) Retry(ctx context.Context, occurrence, by, why string) error {
	return do(ctx, f, "Retry", func() error { return f.st.Retry(ctx, occurrence, by, why) })
}

// Cancel implements store.Store.
func (f *Faulty) Cancel(ctx context.Context, occurrence, by, why string) error {
	return do(ctx, f, "Cancel", func() error { return f.st.Cancel(ctx, occurrence, by, why) })
}

// ResolveEffect implements store.Store.
func (f *Faulty) ResolveEffect(ctx context.Context, req store.ResolveEffectRequest) ([]string, error) {
	return through(ctx, f, "ResolveEffect", func() ([]string, error) { return f.st.ResolveEffect(ctx, req) })
}

// Resolve implements store.Store.
func (f *Faulty) Resolve(ctx context.Context, occurrence string, to duly.State, by, why string) error {
	return do(ctx, f, "Resolve", func() error { return f.st.Resolve(ctx, occurrence, to, by, why) })
}

// Trim implements store.Store.
func (f *Faulty) Trim(ctx context.Context, before time.Time, limit int) (int, error) {
	return through(ctx, f, "Trim", func() (int, error) { return f.st.Trim(ctx, before, limit) })
}

// Join implements store.Store.
func (f *Faulty) Join(ctx context.Context, node store.NodeInfo) (int64, error) {
	return through(ctx, f, "Join", func() (int64, error) { return f.st.Join(ctx, node) })
}

// Beat implements store.Store.
func (f *Faulty) Beat(ctx context.Context, node int64, ttl time.Duration, load store.NodeLoad) error {
	return do(ctx, f, "Beat", func() error { return f.st.Beat(ctx, node, ttl, load) })
}

// Leave implements store.Store.
func (f *Faulty) Leave(ctx context.Context, node int64) error {
	return do(ctx, f, "Leave", func() error { return f.st.Leave(ctx, node) })
}

// Acquire implements store.Store.
func (f *Faulty) Acquire(ctx context.Context, req store.AcquireRequest) (duly.Lease, error) {
	return through(ctx, f, "Acquire", func() (duly.Lease, error) { return f.st.Acquire(ctx, req) })
}

// RenewLease implements store.Store.
func (f *Faulty) RenewLease(ctx context.Context, name, owner string, ttl time.Duration) (duly.Lease, error) {
	return through(ctx, f, "RenewLease", func() (duly.Lease, error) { return f.st.RenewLease(ctx, name, owner, ttl) })
}

// ReleaseLease implements store.Store.
func (f *Faulty) ReleaseLease(ctx context.Context, name, owner string) error {
	return do(ctx, f, "ReleaseLease", func() error { return f.st.ReleaseLease(ctx, name, owner) })
}

// Definition implements store.Store.
func (f *Faulty) Definitions(ctx context.Context, ids []int64) (map[int64]duly.Schedule, error) {
	return through(ctx, f, "Definitions", func() (map[int64]duly.Schedule, error) { return f.st.Definitions(ctx, ids) })
}

func (f *Faulty) Definition(ctx context.Context, id int64) (duly.Schedule, error) {
	return through(ctx, f, "Definition", func() (duly.Schedule, error) { return f.st.Definition(ctx, id) })
}

// Revisions implements store.Store.
func (f *Faulty) Revisions(ctx context.Context, schedule string) ([]store.Revision, error) {
	return through(ctx, f, "Revisions", func() ([]store.Revision, error) { return f.st.Revisions(ctx, schedule) })
}

// Schedule implements store.Store.
func (f *Faulty) Schedule(ctx context.Context, id string) (store.ScheduleStatus, error) {
	return through(ctx, f, "Schedule", func() (store.ScheduleStatus, error) { return f.st.Schedule(ctx, id) })
}

// Occurrence implements store.Store.
func (f *Faulty) Occurrence(ctx context.Context, id string) (duly.Occurrence, error) {
	return through(ctx, f, "Occurrence", func() (duly.Occurrence, error) { return f.st.Occurrence(ctx, id) })
}

// Attempts implements store.Store.
func (f *Faulty) Attempts(ctx context.Context, keys []store.AttemptKey) ([]store.AttemptFacts, error) {
	return through(ctx, f, "Attempts", func() ([]store.AttemptFacts, error) { return f.st.Attempts(ctx, keys) })
}

// Queues implements store.Store.
func (f *Faulty) Queues(ctx context.Context) ([]store.QueueStatus, error) {
	return through(ctx, f, "Queues", func() ([]store.QueueStatus, error) { return f.st.Queues(ctx) })
}

// NodeList implements store.Store.
func (f *Faulty) NodeList(ctx context.Context) ([]store.NodeStatus, error) {
	return through(ctx, f, "NodeList", func() ([]store.NodeStatus, error) { return f.st.NodeList(ctx) })
}

// LeaseList implements store.Store.
func (f *Faulty) LeaseList(ctx context.Context) ([]duly.Lease, error) {
	return through(ctx, f, "LeaseList", func() ([]duly.Lease, error) { return f.st.LeaseList(ctx) })
}

// Stats implements store.Store.
func (f *Faulty) Stats(ctx context.Context) (store.Stats, error) {
	return through(ctx, f, "Stats", func() (store.Stats, error) { return f.st.Stats(ctx) })
}

// Schedules implements store.Store.
func (f *Faulty) Schedules(ctx context.Context, filter store.ScheduleFilter, page store.Page) ([]store.ScheduleStatus, string, error) {
	return pageThrough(ctx, f, "Schedules", func() ([]store.ScheduleStatus, string, error) { return f.st.Schedules(ctx, filter, page) })
}

// Occurrences implements store.Store.
func (f *Faulty) Occurrences(ctx context.Context, filter store.OccurrenceFilter, page store.Page) ([]duly.Occurrence, string, error) {
	return pageThrough(ctx, f, "Occurrences", func() ([]duly.Occurrence, string, error) { return f.st.Occurrences(ctx, filter, page) })
}

// Effects implements store.Store.
func (f *Faulty) Effects(ctx context.Context, filter store.EffectFilter, page store.Page) ([]store.EffectStatus, string, error) {
	return pageThrough(ctx, f, "Effects", func() ([]store.EffectStatus, string, error) { return f.st.Effects(ctx, filter, page) })
}

// Audit implements store.Store.
func (f *Faulty) Audit(ctx context.Context, object string, page store.Page) ([]store.AuditRow, string, error) {
	return pageThrough(ctx, f, "Audit", func() ([]store.AuditRow, string, error) { return f.st.Audit(ctx, object, page) })
}
