package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/plan"
	"github.com/duly-dev/duly/store"
)

const (
	maxOutput  = 1 << 20
	maxText    = 64 << 10
	maxResult  = 256 << 10
	maxEffects = 1000
)

type finishInput struct{ Body api.FinishRequest }

func (s *Server) finish(ctx context.Context, in *finishInput) (*answer[api.FinishResult], error) {
	if err := checkBatch("reports", len(in.Body.Reports)); err != nil {
		return nil, err
	}
	results, err := s.conclude(ctx, in.Body.Node, in.Body.Reports)
	if err != nil {
		return nil, err
	}
	return reply(api.FinishResult{Results: results}), nil
}

type callbackInput struct {
	Seq   int64 `path:"seq"`
	Token int64 `path:"token"`
	Body  *api.CallbackRequest
}

func (s *Server) callback(ctx context.Context, in *callbackInput) (*answer[api.Finished], error) {
	req := given(in.Body)
	report := api.Report{Seq: in.Seq, Token: in.Token, Outcome: req.Outcome, Details: req.Details}
	if report.Outcome == "" {
		report.Outcome = duly.AttemptSucceeded
	}
	results, err := s.conclude(ctx, 0, []api.Report{report})
	if err != nil {
		return nil, err
	}
	if err := results[0].Error.Err(); err != nil {
		return nil, err
	}
	return reply(results[0]), nil
}

// conclude decides what follows from each report and has the store record it.
// Reports that cannot be meant, or speak of attempts that never were, are
// answered so; the rest goes its way.
func (s *Server) conclude(ctx context.Context, node int64, reports []api.Report) ([]api.Finished, error) {
	results := make([]api.Finished, len(reports))
	if len(reports) == 0 {
		return results, nil
	}
	keys := make([]store.AttemptKey, len(reports))
	for i, r := range reports {
		keys[i] = store.AttemptKey{Seq: r.Seq, Token: r.Token}
	}
	facts, err := s.store.Attempts(ctx, keys)
	if err != nil {
		return nil, err
	}
	var send []store.Report
	var from []int // send[i] is reports[from[i]]
	for i, r := range reports {
		if facts[i].Seq == 0 {
			results[i].Error = &api.ItemError{Code: duly.CodeNotFound, Message: fmt.Sprintf("there was no attempt with seq %d and token %d", r.Seq, r.Token)}
			continue
		}
		results[i].Occurrence = duly.OccurrenceID(facts[i].Schedule, facts[i].Period)
		if e := checkReport(&r); e != nil {
			results[i].Error = &api.ItemError{Code: e.Code, Field: fmt.Sprintf("reports[%d].%s", i, e.Field), Message: e.Message}
			continue
		}
		next, err := s.next(ctx, facts[i], r)
		if err != nil {
			return nil, err
		}
		send, from = append(send, storeReport(r, next)), append(from, i)
	}
	if len(send) == 0 {
		return results, nil
	}
	answers, err := s.store.Finish(ctx, node, send)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		if duly.CodeOf(a.Err) == duly.CodeUnavailable {
			return nil, a.Err // all are given again, which changes nothing of the others
		}
	}
	for i, a := range answers {
		res := &results[from[i]]
		res.State, res.Late = a.State, a.Late
		if a.Err == nil {
			s.counts.finished(send[i].Outcome, a.Late)
			continue
		}
		if duly.CodeOf(a.Err) == duly.CodeStaleToken {
			s.counts.stale.Add(1)
		}
		p := s.fail(ctx, "", a.Err) // so that an unknown fault's text stays here
		res.Error = &api.ItemError{Code: p.Code, Message: p.Detail}
	}
	return results, nil
}

// next is the decision about an attempt, by the policies of its definition. A
// definition that this version cannot read means default policies: the report
// must not be lost for it.
func (s *Server) next(ctx context.Context, facts store.AttemptFacts, r api.Report) (store.Next, error) {
	p, err := s.plans.Get(ctx, facts.Definition)
	if err != nil {
		if duly.CodeOf(err) == duly.CodeUnavailable || ctx.Err() != nil {
			return store.Next{}, err
		}
		s.log.Error("a report is judged by default policies: its definition is unreadable", "schedule", facts.Schedule, "error", err)
	}
	return plan.After(p, plan.Attempt{
		Number: facts.Attempt, Tries: facts.Tries, Outcome: r.Outcome, Error: r.Error,
		Permanent: r.Permanent, RetryAfter: r.RetryAfter.Std(), Random: rand.Float64(),
	}), nil
}

// checkReport bounds what a worker says: what is too long is cut, what makes no
// sense is refused.
func checkReport(r *api.Report) *duly.Error {
	switch {
	case !slices.Contains(duly.Outcomes, r.Outcome):
		return duly.Invalid("outcome", "is %q; a worker may report one of %v", r.Outcome, duly.Outcomes)
	case len(r.Result) > maxResult:
		return duly.Invalid("result", "is %d bytes; at most %d are kept, so store it elsewhere and report a reference", len(r.Result), maxResult)
	case len(r.Effects) > maxEffects:
		return duly.Invalid("effects", "has %d entries; at most %d fit into one report", len(r.Effects), maxEffects)
	}
	for i, e := range r.Effects {
		if e.Key == "" || len(e.Key) > 1000 {
			return duly.Invalid(fmt.Sprintf("effects[%d].key", i), "must have between 1 and 1000 bytes")
		}
	}
	r.Error = cut(withoutNUL(r.Error), maxText)
	r.Output = cut(withoutNUL(r.Output), maxOutput)
	return nil
}

// withoutNUL makes text fit for every store.
func withoutNUL(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// cut shortens a text at the end of a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func storeReport(r api.Report, next store.Next) store.Report {
	out := store.Report{
		Seq: r.Seq, Token: r.Token, Outcome: r.Outcome, Error: r.Error, ExitCode: r.ExitCode, Output: r.Output,
		Effects: r.Effects, Next: next,
	}
	if len(r.Result) > 0 && string(r.Result) != "null" {
		out.Result = json.RawMessage(r.Result)
	}
	return out
}

// giveBackTime bounds how long a server tries to give back what nobody works
// on; beyond, the leases run out.
const giveBackTime = 5 * time.Second

// giveBack returns claims that nobody works on, at once and uncounted.
func (s *Server) giveBack(ctx context.Context, node int64, claims []store.Claim, why string) {
	if len(claims) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackTime)
	defer cancel()
	reports := make([]store.Report, len(claims))
	for i, c := range claims {
		reports[i] = store.Report{
			Seq: c.Seq, Token: c.Token, Outcome: duly.AttemptReleased, Error: why,
			Next: plan.After(nil, plan.Attempt{Number: c.Attempt, Tries: c.Tries, Outcome: duly.AttemptReleased, Error: why}),
		}
	}
	if _, err := s.store.Finish(ctx, node, reports); err != nil {
		s.log.Warn("claims could not be given back; their leases will run out", "claims", len(claims), "why", why, "error", err)
	}
}

func itoa(i int) string { return strconv.Itoa(i) }
