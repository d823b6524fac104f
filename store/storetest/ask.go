package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

// asking is a plan that asks for the periods of all instants that are owed, and
// lets one occurrence cover those that do not exist.
func (e *env) asking(now time.Time, due []store.DueSchedule) []store.Firing {
	all := e.plan(now, due)
	for i := range all {
		f, o := &all[i], []store.NewOccurrence(nil)
		for _, x := range f.Occurrences {
			if exists, known := due[i].Exists[x.Period]; !known {
				f.Ask = append(f.Ask, x.Period)
			} else if !exists {
				o = append(o, x)
			}
		}
		if len(f.Ask) == 0 && len(o) > 0 {
			last := o[len(o)-1]
			for _, x := range o {
				last.Covers = append(last.Covers, x.Period)
			}
			f.Occurrences = []store.NewOccurrence{last}
		} else if len(f.Ask) == 0 {
			f.Occurrences = nil
		}
	}
	return all
}

// ask has what a planner may ask before it decides.
func ask(g *group) {
	g.claim("NoPeriodIsCoveredTwiceAfterTheClockWasSetBack", func(e *env) {
		e.apply(sched{id: "a"})
		start := e.now
		combined := func(after time.Duration) store.FireResult {
			e.Helper()
			e.now = start.Add(after)
			return e.fireWith(store.FireRequest{Plan: e.asking})
		}
		combined(time.Minute)
		combined(5 * time.Minute)
		combined(6 * time.Minute)
		combined(2 * time.Minute) // set back
		combined(4 * time.Minute) // an outage
		combined(8 * time.Minute)
		told := map[string]int{}
		for _, o := range e.all("a") {
			for _, p := range o.Covers {
				told[p]++
			}
		}
		for i := 1; i <= 8; i++ {
			if p := period(start.Add(time.Duration(i) * time.Minute)); told[p] != 1 {
				e.Fatalf("minute %d is told of %d times: %v", i, told[p], told)
			}
		}
		if got := e.occ(e.defs["a"].at(e.now)).Covers; len(got) != 2 {
			e.Fatalf("covered %v, want the two minutes that are new", got)
		}
	})

	g.claim("ThePlannerIsToldHowFarTheClockHadCome", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		var told []store.DueSchedule
		fire := func(by time.Duration) {
			e.Helper()
			e.pass(by)
			told = nil
			e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				told = due
				return e.plan(now, due)
			}})
			if len(told) != 2 {
				e.Fatalf("%d due at %v", len(told), e.now)
			}
		}
		fire(time.Minute)
		wantEqual(e, "ahead", told[0].Ahead, time.Time{})
		fire(2 * time.Hour)
		wantEqual(e, "ahead", told[0].Ahead, time.Time{})
		highest := e.now
		fire(-time.Hour)
		e.wantTime("ahead", told[0].Ahead, highest)
		e.wantTime("ahead", told[1].Ahead, highest)
		fire(time.Minute)
		fire(-30 * time.Minute)
		e.wantTime("ahead after another one", told[0].Ahead, highest)
		e.reopen()
		fire(time.Minute)
		e.wantTime("ahead after a restart", told[0].Ahead, highest)
	})

	g.claim("ThePlannerIsToldWhatExistsByNameAndUnderThatOfAnother", func(e *env) {
		a, b := sched{id: "a", overlap: duly.OverlapCombine}, sched{id: "b"}
		e.apply(a, b)
		base := e.now
		at := func(minute int) time.Time { return base.Add(time.Duration(minute) * time.Minute) }
		occ := func(minute int, covers ...int) store.NewOccurrence {
			o := a.occurrence(at(minute), store.Revision{})
			for _, c := range covers {
				o.Covers = append(o.Covers, period(at(c)))
			}
			return o
		}
		// fire makes occurrences of a; the last of them takes over what waits.
		fire := func(merge bool, made ...store.NewOccurrence) {
			e.Helper()
			e.pass(time.Minute)
			res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
				all := e.plan(now, due)
				for i, d := range due {
					if all[i].Occurrences = nil; d.Schedule != "a" {
						continue
					}
					for _, o := range made {
						o.Revision, o.Definition = d.Revisions[0].Number, d.Revisions[0].Definition
						all[i].Occurrences = append(all[i].Occurrences, o)
					}
					if merge {
						all[i].Merge = []int64{d.Waiting[len(d.Waiting)-1].Seq}
					}
				}
				return all
			}})
			wantEqual(e, "made", len(res.Fired), len(made))
		}
		missed, run := occ(12), occ(30)
		missed.State, missed.Reason = duly.Missed, "alone"
		run.Period, run.Count, run.State, run.Reason = period(at(21))+".."+period(at(30)), 10, duly.Missed, "in a run"
		fire(false, occ(1), occ(4, 2, 3, 4), missed, run)
		fire(true, occ(8, 2, 3, 4, 7, 8))
		e.wantState(a.at(at(4)), duly.Merged)
		want := map[int]bool{1: true, 2: true, 3: true, 4: true, 5: false, 7: true, 8: true, 9: false, 12: true, 21: false, 25: false, 30: false}
		var asked []string
		for n := range want {
			asked = append(asked, period(at(n)))
		}
		slices.Sort(asked)
		e.pass(time.Minute)
		rounds := 0
		e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			rounds++
			all := e.plan(now, due)
			for i, d := range due {
				all[i].Occurrences = nil
				switch {
				case d.Schedule == "b" && rounds == 1:
					all[i].Ask = []string{period(at(1))}
				case rounds <= len(asked) && d.Schedule == "a": // one after the other
					all[i].Ask = asked[rounds-1 : rounds]
				}
				if d.Schedule == "b" && rounds > 1 && (len(d.Exists) != 1 || d.Exists[period(at(1))]) {
					e.Errorf("b was told %v", d.Exists)
				}
				if d.Schedule == "a" && len(d.Exists) != rounds-1 {
					e.Errorf("told %d in round %d", len(d.Exists), rounds)
				}
				if d.Schedule == "a" && rounds == len(asked)+1 {
					for n, is := range want {
						if got := d.Exists[period(at(n))]; got != is {
							e.Errorf("minute %d exists: %v, want %v", n, got, is)
						}
					}
				}
			}
			return all
		}})
		wantEqual(e, "rounds", rounds, len(asked)+1)
	})

	g.claim("NothingOfAFiringThatAsksIsCarriedOut", func(e *env) {
		e.apply(sched{id: "a"}, sched{id: "b"})
		e.pass(time.Minute)
		before := e.schedule("a")
		res := e.fireWith(store.FireRequest{Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			all := e.plan(now, due)
			for i, d := range due {
				switch {
				case d.Schedule != "a":
				case d.Exists == nil:
					all[i].Ask = []string{"x"}
				default: // it stays due
					all[i].Occurrences, all[i].Cursor, all[i].NextDue = nil, d.Cursor, now
				}
			}
			return all
		}})
		if len(res.Fired) != 1 || res.Fired[0].Schedule != "b" || len(e.all("a")) != 0 || !res.More {
			e.Fatalf("fired %+v", res)
		}
		e.wantTime("cursor", e.schedule("a").Cursor, before.Cursor)
	})

	g.claim("APlannerThatAsksAgainChangesNothing", func(e *env) {
		e.apply(sched{id: "a"})
		e.pass(time.Minute)
		_, err := e.st.Fire(e.ctx, store.FireRequest{Now: e.now, Node: e.node, Plan: func(now time.Time, due []store.DueSchedule) []store.Firing {
			all := e.plan(now, due)
			all[0].Ask = []string{all[0].Occurrences[0].Period}
			return all
		}})
		e.wantCode(err, duly.CodeInternal)
		wantEqual(e, "made", fmt.Sprint(e.all("a")), "[]")
		wantEqual(e, "made then", len(e.fire().Fired), 1)
	})
}
