package drill

import (
	"maps"
	"slices"
	"testing"
)

func TestWhatCountPrintsIsRead(t *testing.T) {
	tests := map[string]struct {
		text  string
		keys  map[string]int
		total int
		bad   bool
	}{
		"OneNumberIsATotal":         {text: " 42\n", total: 42},
		"PsqlColumns":               {text: "ada|2026-11-28|1\nada|2026-11-29|2\n", keys: map[string]int{"ada|2026-11-28": 1, "ada|2026-11-29": 2}, total: 3},
		"MysqlTabs":                 {text: "ada\t2026-11-28\t1\n", keys: map[string]int{"ada\t2026-11-28": 1}, total: 1},
		"CSVAndBlanks":              {text: "\nada, x, 3\n\n", keys: map[string]int{"ada, x": 3}, total: 3},
		"UniqLikeLinesOfOneKeyAdd":  {text: "a 1\na 2\n", keys: map[string]int{"a": 3}, total: 3},
		"NothingIsNoEffectYet":      {text: "", keys: map[string]int{}},
		"AWordIsNoNumber":           {text: "ada many\n", bad: true},
		"TwoNumbersAloneAreUnclear": {text: "1\n2\n", bad: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseTally(tt.text)
			if (err != nil) != tt.bad {
				t.Fatalf("error %v", err)
			}
			if !tt.bad && (got.total != tt.total || (got.keys == nil) != (tt.keys == nil) || !maps.Equal(got.keys, tt.keys)) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRepeatedAndMissingEffectsAreToldFromWhatWasThereBefore(t *testing.T) {
	keyed := func(keys map[string]int) tally {
		t := tally{keys: keys}
		for _, n := range keys {
			t.total += n
		}
		return t
	}
	tests := map[string]struct {
		before, after                        tally
		expected, effects, repeated, missing int
	}{
		"EachOnce":                    {keyed(map[string]int{"old": 3}), keyed(map[string]int{"old": 3, "a": 1, "b": 1}), 2, 2, 0, 0},
		"AKeyTwiceIsARepetition":      {keyed(nil), keyed(map[string]int{"a": 2, "b": 1}), 2, 3, 1, 0},
		"AKeyOfOldAgainIsARepetition": {keyed(map[string]int{"a": 1}), keyed(map[string]int{"a": 2, "b": 1}), 2, 2, 1, 1},
		"ARepetitionHidesNoGap":       {keyed(nil), keyed(map[string]int{"a": 2}), 2, 2, 1, 1},
		"TotalsTellTheDifferenceOnly": {tally{total: 5}, tally{total: 8}, 2, 3, 1, 0},
		"TotalsTellOfAGap":            {tally{total: 5}, tally{total: 6}, 2, 1, 0, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.before.keys == nil && tt.after.keys != nil {
				tt.before.keys = map[string]int{}
			}
			effects, repeated, missing := tt.after.since(tt.before, tt.expected)
			if effects != tt.effects || repeated != tt.repeated || missing != tt.missing {
				t.Errorf("%d effects, %d repeated, %d missing", effects, repeated, missing)
			}
		})
	}
}

func TestMarkersAreHeardOnStandardOutputAndInTheFile(t *testing.T) {
	var heard []marker
	e, err := listenTo(t.TempDir(), "x", func(m marker) { heard = append(heard, m) })
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range []string{"hello\nduly: eff", "ect invoice/1\n", "duly: reused invoice/2\nduly: command 17\nduly: effect unfinished"} {
		if _, err := e.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	e.close()
	want := []marker{{key: "invoice/1"}, {key: "invoice/2", reused: true}, {pid: 17}}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %+v on standard output", heard)
	}

	heard = nil
	if e, err = listenTo(t.TempDir(), "y", func(m marker) { heard = append(heard, m) }); err != nil {
		t.Fatal(err)
	}
	appendTo(t, e.file, "duly: effect invoice/3\n")
	e.close() // reads to the end
	if !slices.Equal(heard, []marker{{key: "invoice/3"}}) {
		t.Errorf("heard %+v in the file", heard)
	}
}
