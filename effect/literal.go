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
	for {
		i := strings.IndexAny(text, `"\\`)
		if i < 0 {
			break
		}
		a.b.WriteString(text[:i])
		a.b.WriteByte('\\')
		a.b.WriteByte(text[i])
		text = text[i+1:]
	}
	a.b.WriteString(text)
	a.b.WriteByte('"')
}

func (a *array) text() string { return "{" + a.b.String()[1:] + "}" }
