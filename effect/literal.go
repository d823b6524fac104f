package effect

import (
	"encoding/hex"
	"strings"

	"github.com/duly-dev/duly/internal/sqldb"
)

// quote makes a literal of printable ASCII, or of nil.
func quote(d sqldb.Dialect, ascii any) string {
	text, ok := ascii.(string)
	switch {
	case !ok:
		return "NULL"
	case d == sqldb.MySQL && len(text) > maxColumn && !strings.ContainsAny(text, `'\`):
		return "_ascii'" + text + "'" // or the server would convert it, for half as long again
	case !strings.ContainsAny(text, `'\`):
		return "'" + text + "'"
	case d == sqldb.MySQL: // where a session's mode decides what a backslash means
		return "_ascii x'" + hex.EncodeToString([]byte(text)) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// array writes an array the way PostgreSQL reads it from text, which every driver
// can send.
type array struct{ b strings.Builder }

// add adds a string, or nil.
func (a *array) add(v any) {
	a.b.WriteByte(',')
	text, ok := v.(string)
	if !ok {
		a.b.WriteString("NULL")
		return
	}
	a.b.WriteByte('"')
	writeEscaped(&a.b, text)
	a.b.WriteByte('"')
}

// writeEscaped writes printable ASCII as it stands between double quotes, in JSON
// and in PostgreSQL's arrays alike.
func writeEscaped(b *strings.Builder, text string) {
	for {
		i := strings.IndexAny(text, `"\\`)
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		b.WriteByte('\\')
		b.WriteByte(text[i])
		text = text[i+1:]
	}
	b.WriteString(text)
}

func (a *array) text() string { return "{" + a.b.String()[1:] + "}" }
