package control_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/control"
)

// week is a range with one occurrence in every state that a backfill meets,
// and two that do not exist.
func week(w *world) control.BackfillRequest {
	w.Helper()
	def := daily("a")
	def.Overlap, def.CatchUp.Policy = duly.OverlapAllow, duly.CatchUpNone
	w.apply(def)
	until("2000-01-20T12:00")
	node := w.join("handler:work")
	for _, c := range []struct {
		period  string
		outcome duly.Outcome
	}{{"2000-01-02", duly.AttemptSucceeded}, {"2000-01-03", duly.AttemptFailed}, {"2000-01-04", duly.AttemptUncertain}} {
		_, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann", Period: c.period})
		w.must(err)
		w.finish(node, w.claim(node, "handler:work")[0], c.outcome)
	}
	for _, period := range []string{"2000-01-05", "2000-01-06"} {
		made, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann", Period: period})
		w.must(err)
		if period == "2000-01-05" {
			w.must(w.Cancel(w.ctx, made.ID, "ann", ""))
		}
	}
	return control.BackfillRequest{Schedule: "a", From: at("2000-01-01T09:00"), To: at("2000-01-07T09:01"), By: "ann"}
}

func TestABackfillFindsWhatWasCombined(t *testing.T) {
	inBubble(t, func(w *world) {
		s := hourly("a")
		s.CatchUp.Policy = duly.CatchUpCombine
		w.apply(s)
		until("2000-01-01T03:30") // nobody was there
		w.fire()
		got, err := w.Backfill(w.ctx, control.BackfillRequest{Schedule: "a", From: at("2000-01-01T00:30"), To: at("2000-01-01T03:30"), By: "ann"})
		w.must(err)
		if got.Created != 0 || got.Kept != 3 || got.Items[0].ID != "a@2000-01-01T03+00:00" || !got.Items[0].Due.Equal(at("2000-01-01T01:00")) {
			w.Errorf("%+v", got)
		}
		made, err := w.Trigger(w.ctx, control.TriggerRequest{Schedule: "a", By: "ann", Period: "2000-01-01T02+00:00"})
		w.must(err)
		if !made.Existing || made.ID != "a@2000-01-01T03+00:00" {
			w.Errorf("%+v", made)
		}
	})
}

func TestBackfillByRule(t *testing.T) {
	const create, retry, keep = "create", "retry", "keep"
	for _, c := range []struct {
		rule control.Rule
		want []string // of 1 to 7 January: not there, succeeded, failed, uncertain, cancelled, pending, not there
	}{
		{"", []string{create, keep, keep, keep, retry, keep, create}},
		{control.BackfillMissing, []string{create, keep, keep, keep, retry, keep, create}},
		{control.BackfillFailed, []string{create, keep, retry, keep, retry, keep, create}},
		{control.BackfillAll, []string{create, retry, retry, retry, retry, keep, create}},
	} {
		t.Run("rule "+string(c.rule), func(t *testing.T) {
			inBubble(t, func(w *world) {
				req := week(w)
				before := w.list("a")
				req.Rule, req.DryRun = c.rule, true
				would, err := w.Backfill(w.ctx, req)
				w.must(err)
				if diff := cmp.Diff(before, w.list("a")); diff != "" {
					w.Errorf("a dry run changed things: %s", diff)
				}
				req.DryRun = false
				did, err := w.Backfill(w.ctx, req)
				w.must(err)
				if diff := cmp.Diff(would, did); diff != "" {
					w.Errorf("it did something else than the dry run said: %s", diff)
				}
				var got []string
				counts := map[string]int{}
				for i, item := range did.Items {
					got = append(got, item.Action)
					counts[item.Action]++
					state := w.occurrence(item.ID).State
					if !item.Due.Equal(at("2000-01-01T09:00").AddDate(0, 0, i)) || (item.Action == keep) != (item.State == state) || item.Action != keep && state != duly.Pending {
						w.Errorf("%+v, which is now %s", item, state)
					}
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					w.Error(diff)
				}
				if did.Created != counts[create] || did.Retried != counts[retry] || did.Kept != counts[keep] || did.Omitted != 0 {
					w.Errorf("counts %+v", did)
				}
				if o := w.occurrence("a@2000-01-01"); o.Origin != duly.OriginBackfill || o.Revision != 1 {
					w.Errorf("made %+v", o)
				}
				again, err := w.Backfill(w.ctx, req)
				w.must(err)
				if again.Created != 0 || again.Retried != 0 {
					w.Errorf("asked again: %+v", again)
				}
			})
		})
	}
}

func TestBackfillFindsWhatWasMissedInARun(t *testing.T) {
	inBubble(t, func(w *world) {
		def := hourly("a")
		def.CatchUp.Policy = duly.CatchUpNone
		w.apply(def)
		until("2000-01-01T03:30")
		w.fire()
		if diff := cmp.Diff([]string{"2000-01-01T01+00:00 missed", "2000-01-01T02+00:00 missed", "2000-01-01T03+00:00 missed"}, w.list("a")); diff != "" {
			w.Fatal(diff)
		}
		res, err := w.Backfill(w.ctx, control.BackfillRequest{Schedule: "a", From: at("2000-01-01T00:00"), To: at("2000-01-01T03:30"), By: "ann"})
		w.must(err)
		if res.Created != 1 || res.Retried != 3 { // 00:00 too: the first revision stands for all time before it
			w.Errorf("got %+v", res)
		}
	})
}

func TestBackfillUsesTheRevisionsInForceThen(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(daily("a"))
		until("2000-01-03T12:00")
		changed := daily("a")
		changed.Cron, changed.Priority = "0 10 * * *", 5
		w.apply(changed)
		until("2000-01-05T09:30")
		changed.Cron, changed.Priority = "0 9 * * 1-5", 7
		w.apply(changed)
		until("2000-01-10T12:00")
		res, err := w.Backfill(w.ctx, control.BackfillRequest{Schedule: "a", From: at("1999-12-31T00:00"), To: at("2000-01-10T12:00"), By: "ann", Rule: control.BackfillAll})
		w.must(err)
		type row struct {
			Due      string
			Revision int64
			Priority int
		}
		var got []row
		for _, item := range res.Items {
			o := w.occurrence(item.ID)
			got = append(got, row{o.Due.Format("01-02T15"), o.Revision, o.Priority})
		}
		want := []row{
			{"12-31T09", 1, 0}, {"01-01T09", 1, 0}, {"01-02T09", 1, 0}, {"01-03T09", 1, 0}, // before the schedule was, too
			{"01-04T10", 2, 5},                                         // not 01-03: it was due at nine
			{"01-06T09", 3, 7}, {"01-07T09", 3, 7}, {"01-10T09", 3, 7}, // not 01-05: neither nine nor ten came in its time
		}
		if diff := cmp.Diff(want, got); diff != "" {
			w.Error(diff)
		}
	})
}

func TestBackfillListsTheFirstOfMany(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(hourly("a"))
		until("2000-02-29T00:00")
		req := control.BackfillRequest{Schedule: "a", From: at("2000-01-01T00:00"), To: at("2000-02-28T00:00"), By: "ann"}
		res, err := w.Backfill(w.ctx, req)
		w.must(err)
		if res.Created != 58*24 || len(res.Items) != 1000 || res.Omitted != 58*24-1000 {
			w.Errorf("created %d, listed %d, omitted %d", res.Created, len(res.Items), res.Omitted)
		}
	})
}

func TestBackfillRefusesWhatCannotBeMeant(t *testing.T) {
	inBubble(t, func(w *world) {
		every := duly.Schedule{ID: "a", Timing: duly.Timing{Cron: "* * * * *"}, Target: duly.Target{Handler: "work"}}
		w.apply(every)
		until("2000-06-01T00:00")
		for _, c := range []struct {
			name  string
			req   control.BackfillRequest
			code  duly.Code
			words string
		}{
			{"not there", control.BackfillRequest{Schedule: "b", From: at("2000-01-01T00:00"), To: at("2000-01-02T00:00")}, duly.CodeNotFound, "b"},
			{"rule", control.BackfillRequest{Schedule: "a", From: at("2000-01-01T00:00"), To: at("2000-01-02T00:00"), Rule: "some"}, duly.CodeInvalid, "missing, failed, all"},
			{"order", control.BackfillRequest{Schedule: "a", From: at("2000-01-02T00:00"), To: at("2000-01-02T00:00")}, duly.CodeInvalid, "to"},
			{"future", control.BackfillRequest{Schedule: "a", From: at("2000-01-02T00:00"), To: time.Now().Add(time.Second)}, duly.CodeInvalid, "future"},
			{"size", control.BackfillRequest{Schedule: "a", From: at("2000-01-01T00:00"), To: at("2000-05-01T00:00"), DryRun: true}, duly.CodeInvalid, "100000 periods"},
		} {
			_, err := w.Backfill(w.ctx, c.req)
			if duly.CodeOf(err) != c.code {
				w.Errorf("%s: %v", c.name, err)
			}
			w.wantCode(err, c.code, c.words)
		}
		if got := w.list("a"); len(got) != 0 {
			w.Errorf("made %d", len(got))
		}
	})
}
