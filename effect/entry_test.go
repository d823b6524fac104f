//go:build unix

package effect_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/effect"
)

func TestAPersonResolvesWhatNobodyElseCan(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		var p provider
		uncertain := func(key string, attempt int) {
			t.Helper()
			if _, _, err := r.external(owner(t.Context(), attempt, nil), key, effect.Call[Invoice]{Call: p.lost}); !errors.Is(err, duly.ErrUncertain) {
				t.Fatal(err)
			}
		}
		uncertain("done", 1)
		if err := r.resolve(t.Context(), "done", effect.Resolution{Result: []byte(`{"customer":7,"note":"größe, says the bank"}`), By: "Zoë"}); err != nil {
			t.Fatal(err)
		}
		inv, reused, err := r.external(owner(t.Context(), 2, nil), "done", effect.Call[Invoice]{Call: p.charge})
		if err != nil || !reused || inv.Note != "größe, says the bank" {
			t.Errorf("%+v, reused %v, error %v", inv, reused, err)
		}
		if e := r.wantEntry(t, "done", effect.Done, 1); e.ResolvedBy != "Zoë" || e.ResolvedAt.IsZero() {
			t.Errorf("the ledger has %+v", e)
		}

		uncertain("redo", 2)
		if err := r.resolve(t.Context(), "redo", effect.Resolution{Redo: true, By: "Zoë"}); err != nil {
			t.Fatal(err)
		}
		calls := p.calls
		if _, reused, err := r.external(owner(t.Context(), 3, nil), "redo", effect.Call[Invoice]{Call: p.charge}); err != nil || reused {
			t.Errorf("reused %v, error %v", reused, err)
		}
		if p.calls != calls+1 {
			t.Errorf("called %d times again", p.calls-calls)
		}
		if e := r.wantEntry(t, "redo", effect.Done, 3); e.ResolvedBy != "Zoë" {
			t.Errorf("the ledger has %+v", e)
		}

		uncertain("k", 3)
		for _, test := range []struct {
			key  string
			r    effect.Resolution
			code duly.Code
			word string
		}{
			{"k", effect.Resolution{Redo: true}, duly.CodeInvalid, "by"},
			{"k", effect.Resolution{Redo: true, Result: []byte("1"), By: "me"}, duly.CodeInvalid, "result"},
			{"k", effect.Resolution{Result: []byte("{"), By: "me"}, duly.CodeInvalid, "JSON"},
			{"unknown", effect.Resolution{Redo: true, By: "me"}, duly.CodeNotFound, "not in the ledger"},
			{"done", effect.Resolution{Redo: true, By: "me"}, duly.CodeConflict, "has happened"},
		} {
			errorHas(t, r.resolve(t.Context(), test.key, test.r), test.code, test.word)
		}
		r.wantEntry(t, "k", effect.Uncertain, 3)
	})
}

func TestTheLedgerIsListedInTheOrderOfItsKeys(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		ctx := owner(t.Context(), 1, nil)
		if _, _, err := r.doBatch(ctx, customers(40), 0, func(i int) string { return fmt.Sprintf("a/%02d", i) }, func(_ context.Context, _ *txn, missing []int) ([]Invoice, error) {
			made := make([]Invoice, len(missing))
			for i := range made {
				made[i].Customer = missing[i]
			}
			return made, nil
		}); err != nil {
			t.Fatal(err)
		}
		other := duly.WithGrant(t.Context(), duly.Grant{Occurrence: "other@1", Attempt: 2, Token: 3, Resource: "queue/other"})
		for _, key := range []string{"b ", "b", "b/é", "c%_", "B", strings.Repeat("long", 60), strings.Repeat("long", 60) + "x"} {
			if _, _, err := r.do(other, key, func(context.Context, *txn) (Invoice, error) { return Invoice{Note: key}, nil }); err != nil {
				t.Fatal(err)
			}
		}
		var p provider
		_, _, _ = r.external(other, "z", effect.Call[Invoice]{Call: p.lost})

		page, cursor, err := r.list(t.Context(), effect.Filter{Limit: 30})
		if err != nil || len(page) != 30 || page[0].Key != "B" || page[1].Key != "a/00" || cursor == "" {
			t.Fatalf("first page: %d entries from %q, error %v", len(page), page[0].Key, err)
		}
		for _, e := range page[1:] {
			if want := fmt.Sprintf(`{"customer":%s,"period":""}`, trimZero(e.Key[2:])); string(e.Result) != want || e.Occurrence != "invoices@2027-01" || e.Attempt != 1 || e.Token != 1 || e.Resource != "schedule/invoices" || e.CreatedAt.IsZero() {
				t.Fatalf("%s: %+v with result %s", e.Key, e, e.Result)
			}
		}
		rest, end, err := r.list(t.Context(), effect.Filter{Limit: 30, Cursor: cursor})
		if err != nil || len(rest) != 18 || end != "" || rest[17].Key != "z" {
			t.Errorf("second page: %d entries, error %v", len(rest), err)
		}
		for _, test := range []struct {
			f    effect.Filter
			want int
		}{
			{effect.Filter{Prefix: "a/1"}, 10},
			{effect.Filter{Prefix: "b"}, 3},
			{effect.Filter{Prefix: "b "}, 1},
			{effect.Filter{Prefix: "a"}, 40},
			{effect.Filter{Prefix: strings.Repeat("long", 60)}, 2},
			{effect.Filter{Prefix: strings.Repeat("long", 60) + "x"}, 1},
			{effect.Filter{Prefix: "b/é"}, 1},
			{effect.Filter{Prefix: "c%"}, 1},
			{effect.Filter{Prefix: "_"}, 0},
			{effect.Filter{Occurrence: "other@1"}, 8},
			{effect.Filter{Occurrence: "invoices@2027-01"}, 40},
			{effect.Filter{Occurrence: "invoices@2027-01", Prefix: "a/0"}, 10},
			{effect.Filter{State: effect.Uncertain}, 1},
			{effect.Filter{State: effect.Started}, 0},
		} {
			got, _, err := r.list(t.Context(), test.f)
			if err != nil || len(got) != test.want {
				t.Errorf("%+v: %d entries, want %d, error %v", test.f, len(got), test.want, err)
			}
		}
		_, _, err = r.list(t.Context(), effect.Filter{Limit: 1001})
		errorHas(t, err, duly.CodeInvalid, "limit")
	})
}

func trimZero(s string) string {
	if s[0] == '0' {
		return s[1:]
	}
	return s
}

func TestManyEffectsAreFoundByTheirKeys(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		keys := []string{"plain", "odd 🙂\n\x00", strings.Repeat("long/", 200), "bill/1", "bill/2"}
		for _, key := range keys[:3] {
			if _, _, err := r.do(owner(t.Context(), 2, nil), key, func(context.Context, *txn) (Invoice, error) { return Invoice{Note: key}, nil }); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err := r.doBatch(owner(t.Context(), 2, nil), []int{1, 2}, 2, func(c int) string { return fmt.Sprint("bill/", c) },
			func(_ context.Context, _ *txn, missing []int) ([]Invoice, error) {
				return []Invoice{{Note: "bill/1"}, {Note: "bill/2"}}, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.find(t.Context(), append([]string{"nobody", "", strings.Repeat("x", 5000)}, keys...))
		if err != nil || len(found) != len(keys) {
			t.Fatalf("found %d, error %v, want %d", len(found), err, len(keys))
		}
		for _, key := range keys {
			one, err := r.get(t.Context(), key)
			if err != nil || !reflect.DeepEqual(found[key], one) || one.Attempt != 2 {
				t.Errorf("%q: found %+v, got %+v, %v", key, found[key], one, err)
			}
		}
		if _, err := r.find(t.Context(), make([]string, 1001)); duly.CodeOf(err) != duly.CodeInvalid {
			t.Errorf("1001 keys: %v", err)
		}
		if found, err := r.find(t.Context(), nil); err != nil || len(found) != 0 {
			t.Errorf("no keys: %v, %v", found, err)
		}
	})
}
