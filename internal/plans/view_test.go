package plans

import (
	"fmt"
	"testing"

	"github.com/duly-dev/duly"
)

func TestAViewReadsWhatItLacksAtOnce(t *testing.T) {
	from := &definitions{all: map[int64]duly.Schedule{}}
	for id := range int64(20_000) { // more than the cache keeps
		from.all[id] = daily(fmt.Sprint("h", id))
	}
	v := New(from).View()
	for id := range int64(20_001) {
		if _, ok, err := v.Plan(id); ok || err != nil {
			t.Fatalf("definition %d is at hand: %v, %v", id, ok, err)
		}
	}
	if from.reads != 0 {
		t.Fatal("a view read something while it was asked")
	}
	if loaded, err := v.Load(t.Context()); !loaded || err != nil {
		t.Fatal(loaded, err)
	}
	if from.reads != 21 {
		t.Errorf("%d reads", from.reads)
	}
	for id := range int64(20_000) {
		if p, ok, err := v.Plan(id); p == nil || !ok || err != nil {
			t.Fatalf("definition %d: %v, %v", id, ok, err)
		}
	}
	if p, ok, err := v.Plan(20_000); p != nil || !ok || duly.CodeOf(err) != duly.CodeInternal {
		t.Errorf("one that does not exist: %v, %v", ok, err)
	}
	if again, err := v.Load(t.Context()); again || err != nil {
		t.Errorf("it loads for ever: %v", err)
	}
}
