package node_test

import (
	"testing"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/node"
)

func TestANodeForgetsWhatEndedLongAgo(t *testing.T) {
	inBubble(t, func(w *world) {
		w.apply(handled("a", "* * * * *"))
		w.start(w.st, node.Options{History: time.Hour}, handle(done))
		time.Sleep(3 * time.Hour)
		all := w.occurrences("a")
		age := time.Since(all[0].Due)
		if len(all) < 60 || age > time.Hour+3*time.Minute {
			t.Errorf("%d are left, the oldest %v old", len(all), age)
		}
		stats, err := w.st.Stats(w.ctx)
		if err != nil || stats.Occurrences[duly.Succeeded] < 179 {
			t.Errorf("counted %v (%v)", stats.Occurrences, err)
		}
	})
}
