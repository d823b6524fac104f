//go:build unix

package effect_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
)

// What attempts tell history decides whether an occurrence may end as failed.
func TestAnOpenOutcomeIsToldAsOpenAndNothingElseIs(t *testing.T) {
	refused := func(context.Context, string) (Invoice, error) { return Invoice{}, effect.NotDone(errRefused) }
	panics := func(context.Context, string) (Invoice, error) { panic("boom") }
	failedLookup := func(context.Context, string) (Invoice, bool, error) { return Invoice{}, false, errRefused }
	each(t, func(t *testing.T, r *rig) {
		for _, c := range []struct {
			name  string
			calls func(p *provider) []effect.Call[Invoice]
			open  []bool // by attempt
		}{
			{"ALostAnswer", func(p *provider) []effect.Call[Invoice] {
				return []effect.Call[Invoice]{{Call: p.lost, KeyLife: time.Hour}, {Call: p.charge, KeyLife: time.Hour}}
			}, []bool{true, false}},
			{"ALostAnswerThatNobodyCanFindOut", func(p *provider) []effect.Call[Invoice] {
				return []effect.Call[Invoice]{{Call: p.lost}, {Call: p.charge}}
			}, []bool{true, true}},
			{"AFailedLookup", func(p *provider) []effect.Call[Invoice] {
				return []effect.Call[Invoice]{{Call: p.lost, Lookup: p.lookup}, {Call: p.lost, Lookup: failedLookup}, {Call: p.lost, Lookup: p.lookup}}
			}, []bool{true, true, false}},
			{"ARefusal", func(*provider) []effect.Call[Invoice] { return []effect.Call[Invoice]{{Call: refused}} }, []bool{false}},
			{"ARefusalAfterALostAnswer", func(p *provider) []effect.Call[Invoice] {
				return []effect.Call[Invoice]{{Call: p.lost, KeyLife: time.Hour}, {Call: refused, KeyLife: time.Hour}}
			}, []bool{true, true}},
			{"APanic", func(*provider) []effect.Call[Invoice] { return []effect.Call[Invoice]{{Call: panics}} }, []bool{true}},
		} {
			t.Run(c.name, func(t *testing.T) {
				var p provider
				key := "told/" + c.name
				for i, call := range c.calls(&p) {
					var h history
					func() {
						defer func() { _ = recover() }()
						g := duly.Grant{Occurrence: "told@1", Attempt: i + 1, Token: int64(i + 1), Resource: "occurrence/" + key, Record: h.record}
						_, _, _ = r.external(duly.WithGrant(t.Context(), g), key, call)
					}()
					if got := slices.Contains(h.open, key); got != c.open[i] {
						t.Errorf("attempt %d told of it as open: %v, want %v", i+1, got, c.open[i])
					}
				}
			})
		}
	})
}

func TestWhoWaitsForACallTellsOfItAsOpen(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var h history
		entered, leave := make(chan struct{}), make(chan struct{})
		done := make(chan error)
		go func() {
			_, _, err := r.external(owner(t.Context(), 1, nil), "k", effect.Call[Invoice]{Call: func(context.Context, string) (Invoice, error) {
				close(entered)
				<-leave
				return Invoice{}, nil
			}})
			done <- err
		}()
		<-entered
		ctx, cancel := context.WithTimeout(owner(t.Context(), 1, &h), 50*time.Millisecond)
		defer cancel()
		_, _, err := r.external(ctx, "k", effect.Call[Invoice]{Call: new(provider).charge})
		if err == nil || !slices.Equal(h.open, []string{"k"}) {
			t.Errorf("error %v, told as open %q", err, h.open)
		}
		close(leave)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAReusedEffectIsToldWithItsMaker(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		made := owner(t.Context(), 3, nil)
		mustNot := func(_ any, _ any, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		once := func(ctx context.Context) {
			t.Helper()
			mustNot(r.do(ctx, "once", func(context.Context, *txn) (Invoice, error) { return Invoice{}, nil }))
		}
		batch := func(ctx context.Context) {
			t.Helper()
			mustNot(r.doBatch(ctx, []int{1, 2}, 2, func(c int) string { return []string{"", "one", "two"}[c] },
				func(_ context.Context, _ *txn, missing []int) ([]Invoice, error) {
					return make([]Invoice, len(missing)), nil
				}))
		}
		external := func(ctx context.Context) {
			t.Helper()
			mustNot(r.external(ctx, "external", effect.Call[Invoice]{Call: p.charge}))
		}
		lookedUp := effect.Call[Invoice]{Call: p.lost, Lookup: p.lookup}
		if _, _, err := r.external(made, "looked up", lookedUp); err == nil {
			t.Fatal("the answer was not lost")
		}
		before := time.Now().Add(-time.Minute)
		for _, act := range []func(context.Context){once, batch, external} {
			act(made)
		}
		mustNot(r.do(effect.Unowned(t.Context()), "nobody's", func(context.Context, *txn) (Invoice, error) { return Invoice{}, nil }))

		var h history
		finder := duly.WithGrant(t.Context(), duly.Grant{Occurrence: "other@2027-02", Attempt: 1, Token: 9, Resource: "schedule/other", Record: h.record})
		for _, act := range []func(context.Context){once, batch, external} {
			act(finder)
		}
		mustNot(r.external(finder, "looked up", lookedUp))
		mustNot(r.do(finder, "nobody's", func(context.Context, *txn) (Invoice, error) { return Invoice{}, nil }))
		h.want(t, 0, 6)
		for _, key := range []string{"once", "one", "two", "external", "looked up"} {
			m := h.makers[key]
			if m == nil || m.Occurrence != "invoices@2027-01" || m.Attempt != 3 || m.Token != 3 || m.CreatedAt.Before(before) {
				t.Errorf("%s: made by %+v, want attempt 3 of invoices@2027-01", key, m)
			}
		}
		if m := h.makers["nobody's"]; m != nil {
			t.Errorf("made by %+v, want nobody", m)
		}
	})
}
