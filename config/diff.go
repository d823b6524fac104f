package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/duly-dev/duly/store"
)

// Diff tells a person what applying a file changes, or would:
//
//   - create invoices (next due 2026-11-29T00:00:00Z)
//     ~ update reports
//     cron: "0 0 * * *" → "0 6 * * *"
//   - remove old
//     ! ignore ping: owned by code:billing
//     = 12 unchanged
//
// The first character of a line tells its kind (+ ~ - ! =, a space for a
// field), so that a terminal can colour it. The order is that of the kinds,
// then schedules before queues, then IDs, whatever the order of changes. What
// has the name of a credential is not shown.
func Diff(changes []store.Change) string {
	var b strings.Builder
	kept := 0
	for _, c := range ordered(changes) {
		if c.Action == store.ActionKeep {
			kept++
			continue
		}
		writeChange(&b, c)
	}
	if kept > 0 || len(changes) == 0 {
		fmt.Fprintf(&b, "= %d unchanged\n", kept)
	}
	return b.String()
}

func ordered(changes []store.Change) []store.Change {
	rank := func(c store.Change) int {
		all := []store.Action{store.ActionCreate, store.ActionUpdate, store.ActionRemove, store.ActionIgnore}
		return slices.Index(all, c.Action)
	}
	return slices.SortedStableFunc(slices.Values(changes), func(a, b store.Change) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), -cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
}

func writeChange(b *strings.Builder, c store.Change) {
	sign := map[store.Action]string{store.ActionCreate: "+", store.ActionUpdate: "~", store.ActionRemove: "-"}[c.Action]
	if sign == "" {
		sign = "!"
	}
	fmt.Fprintf(b, "%s %s ", sign, c.Action)
	if c.Kind == "queue" {
		b.WriteString("queue ")
	}
	b.WriteString(visible(c.ID))
	if c.Reason != "" {
		b.WriteString(": " + visible(c.Reason))
	}
	if !c.NextDue.IsZero() && (c.Action == store.ActionCreate || c.Action == store.ActionUpdate) {
		fmt.Fprintf(b, " (next due %s)", c.NextDue.UTC().Format(time.RFC3339))
	}
	b.WriteByte('\n')
	if c.Action == store.ActionUpdate {
		for _, line := range fieldChanges("", read(c.Before), read(c.After)) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
}

// unset is a value that is not there, which null is not.
type unset struct{}

func read(data []byte) any {
	if len(data) == 0 {
		return unset{}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return string(data)
	}
	return v
}

// fieldChanges compares two values and says what differs, one line each, by
// path.
func fieldChanges(path string, before, after any) []string {
	old, oldMap := before.(map[string]any)
	now, nowMap := after.(map[string]any)
	_, added := before.(unset)
	_, removed := after.(unset)
	if oldMap && nowMap || oldMap && removed || added && nowMap {
		return memberChanges(path, old, now)
	}
	was, is := show(before), show(after)
	if was == is {
		return nil
	}
	if isSecret(path) {
		return []string{path + ": changed (not shown)"}
	}
	oldList, oldIs := before.([]any)
	nowList, nowIs := after.([]any)
	const short = 60 // characters that a list may take
	if oldIs && nowIs && len(was)+len(is) > 2*short {
		return listChanges(path, oldList, nowList)
	}
	return []string{fmt.Sprintf("%s: %s → %s", strings.TrimPrefix(path, "."), was, is)}
}

func memberChanges(path string, before, after map[string]any) []string {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		lines = append(lines, fieldChanges(join(path, name), member(before, name), member(after, name))...)
	}
	return lines
}

func join(path, name string) string {
	if path == "" {
		return visible(name)
	}
	return path + "." + visible(name)
}

func member(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	return unset{}
}

// listChanges says what a long list gained and lost, such as holidays.
func listChanges(path string, before, after []any) []string {
	count := map[string]int{}
	for _, v := range before {
		count[show(v)]--
	}
	for _, v := range after {
		count[show(v)]++
	}
	var parts []string
	for _, text := range slices.Sorted(maps.Keys(count)) {
		for n := count[text]; n < 0; n++ {
			parts = append(parts, "-"+text)
		}
		for n := count[text]; n > 0; n-- {
			parts = append(parts, "+"+text)
		}
	}
	const most = 8
	switch {
	case len(parts) == 0:
		return []string{path + ": in another order"}
	case len(parts) > most:
		parts = append(parts[:most], fmt.Sprintf("and %d more", len(parts)-most))
	}
	return []string{fmt.Sprintf("%s: %s (%d → %d entries)", path, strings.Join(parts, ", "), len(before), len(after))}
}

func show(v any) string {
	if _, ok := v.(unset); ok {
		return "(unset)"
	}
	return visible(string(marshal(v)))
}

// visible makes what a terminal would obey harmless.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, s)
}

// isSecret reports whether the value of a field is not to be shown. In headers
// and environments more names are suspect than in a payload.
func isSecret(path string) bool {
	words := []string{"secret", "token", "passw", "credential"}
	switch {
	case path == "target.http.secret":
		return true
	case strings.HasPrefix(path, "target.http.headers."), strings.HasPrefix(path, "target.exec.env."):
		words = append(words, "auth", "cookie", "key", "dsn", "url")
	case !strings.HasPrefix(path, "payload."):
		return false
	}
	name := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}
