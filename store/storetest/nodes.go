package storetest

import (
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/store"
)

func nodes(g *group) {
	find := func(e *env, id int64) store.NodeStatus {
		e.Helper()
		all, err := e.st.NodeList(e.ctx)
		e.must(err)
		i := slices.IndexFunc(all, func(n store.NodeStatus) bool { return n.ID == id })
		if i < 0 {
			e.Fatalf("node %d is not in %+v", id, all)
		}
		return all[i]
	}

	g.claim("ANodeIsListedAsItDescribesItself", func(e *env) {
		info := store.NodeInfo{
			Name: "billing-1", Host: "h1", PID: 42, Version: "1.2.3", TZData: "2026b", Capabilities: []string{"exec", "handler:x"}, Slots: 7, TTL: time.Minute,
		}
		id, err := e.st.Join(e.ctx, info)
		e.must(err)
		n := find(e, id)
		if n.Name != info.Name || n.Host != info.Host || n.PID != 42 || n.Version != "1.2.3" || n.TZData != "2026b" || n.Slots != 7 ||
			!slices.Equal(n.Capabilities, info.Capabilities) || n.State != "live" || n.JoinedAt.IsZero() || n.Until.Before(time.Now()) {
			e.Fatalf("listed %+v", n)
		}
		stats, err := e.st.Stats(e.ctx)
		e.must(err)
		wantEqual(e, "live nodes", stats.Nodes, 2)
	})

	g.claim("ABeatKeepsASessionAliveAndTellsItsLoad", func(e *env) {
		id := e.join("n")
		load := store.NodeLoad{Running: 3, ClockOffset: -1500 * time.Millisecond, Draining: true}
		e.must(e.st.Beat(e.ctx, id, 5*time.Hour, load))
		n := find(e, id)
		if n.NodeLoad != load || n.Until.Before(time.Now().Add(4*time.Hour)) || n.SeenAt.Before(n.JoinedAt) {
			e.Fatalf("listed %+v", n)
		}
	})

	g.claim("ALeftSessionHasEnded", func(e *env) {
		id := e.join("n")
		e.must(e.st.Leave(e.ctx, id))
		wantEqual(e, "state", find(e, id).State, "left")
		e.wantCode(e.st.Beat(e.ctx, id, time.Hour, store.NodeLoad{}), duly.CodeNotFound)
	})

	g.claim("ASessionThatIsNotKeptAliveIsGone", func(e *env) {
		id, err := e.st.Join(e.ctx, store.NodeInfo{Name: "n", TTL: 10 * time.Millisecond})
		e.must(err)
		for find(e, id).State == "live" && e.ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond) // the store's clock has to pass it
		}
		wantEqual(e, "state", find(e, id).State, "gone")
		e.wantCode(e.st.Beat(e.ctx, id, time.Hour, store.NodeLoad{}), duly.CodeNotFound)
	})

	g.claim("SessionsAreNumberedForLife", func(e *env) {
		first := e.join("n")
		e.must(e.st.Leave(e.ctx, first))
		_, err := e.st.Trim(e.ctx, time.Now().Add(time.Hour), 1000)
		e.must(err)
		e.reopen()
		if second := e.join("n"); second <= first {
			e.Fatalf("session %d after %d", second, first)
		}
	})

	g.claim("AnUnknownSessionIsNotFound", func(e *env) {
		e.wantCode(e.st.Beat(e.ctx, 123456, time.Hour, store.NodeLoad{}), duly.CodeNotFound)
	})
}
