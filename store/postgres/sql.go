package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// dialect turns the queries of this package into those of one store: they say
// duly.table, whatever the schema is called, and ? or ?n for an argument. Each
// is rendered once.
type dialect struct {
	schema string // quoted
	known  sync.Map
}

func (d *dialect) sql(query string) string {
	if text, ok := d.known.Load(query); ok {
		return text.(string)
	}
	text := d.render(query)
	d.known.Store(query, text)
	return text
}

func (d *dialect) render(query string) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(query); i++ {
		switch {
		case query[i] != '?':
			b.WriteByte(query[i])
		case i+1 < len(query) && query[i+1] >= '1' && query[i+1] <= '9':
			b.WriteByte('$')
		default:
			n++
			b.WriteString("$" + strconv.Itoa(n))
		}
	}
	return strings.ReplaceAll(b.String(), "duly.", d.schema+".")
}

// row is one row of a result, valid until the next one is read. NULL reads as
// the zero value. It decodes by itself, since a batch has tens of thousands of
// values and the results here are of six types only.
type row struct {
	raw    [][]byte
	fields []pgconn.FieldDescription
}

func (r row) text(i int) bool { return r.fields[i].Format == pgx.TextFormatCode }

func (r row) int(i int) int64 {
	v := r.raw[i]
	if v == nil {
		return 0
	}
	if r.text(i) {
		if len(v) == 1 && (v[0] == 't' || v[0] == 'f') {
			return flag(v[0] == 't')
		}
		n, _ := strconv.ParseInt(string(v), 10, 64) // written by the server
		return n
	}
	switch len(v) {
	case 8:
		return int64(binary.BigEndian.Uint64(v))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(v)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(v)))
	case 1: // bool
		return int64(v[0])
	}
	return 0
}

// str reads text; in both formats it is the same bytes.
func (r row) str(i int) string { return string(r.raw[i]) }

// json reads text as JSON, nil for NULL.
func (r row) json(i int) []byte {
	if r.raw[i] == nil {
		return nil
	}
	return append([]byte{}, r.raw[i]...)
}

// bytes reads a bytea.
func (r row) bytes(i int) []byte {
	v := r.raw[i]
	if !r.text(i) {
		return append([]byte{}, v...)
	}
	b, _ := hex.DecodeString(strings.TrimPrefix(string(v), `\x`)) // written by the server
	return b
}

func (r row) bool(i int) bool { return r.int(i) != 0 }
func (r row) null(i int) bool { return r.raw[i] == nil }
func (r row) from(i int) row  { return row{r.raw[i:], r.fields[i:]} }
