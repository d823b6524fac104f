package exec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestKeptIsTheFirstAndTheLastHalf(t *testing.T) {
	const limit = 10
	for size := range 40 {
		text := strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyzABCD", 1)[:size]
		want := text
		if size > limit {
			want = fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", text[:5], size-limit, text[size-5:])
		}
		for range 20 { // cut in any way
			k := kept{limit: limit}
			for rest := text; rest != ""; {
				n := 1 + rand.IntN(len(rest))
				k.write([]byte(rest[:n]))
				rest = rest[n:]
			}
			if got := k.text(); got != want {
				t.Fatalf("of %q: got %q, want %q", text, got, want)
			}
		}
	}
}

func TestKeptCutsNoCharacterInTwo(t *testing.T) {
	for limit := 2; limit < 30; limit++ {
		k := kept{limit: limit}
		k.write([]byte(strings.Repeat("a€é𝄞", 20)))
		if got := k.text(); strings.ContainsRune(got, '\uFFFD') {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
}
