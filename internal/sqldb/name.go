package sqldb

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// A business key or a resource may hold any bytes and be 4 KB long, while
// databases fold case, ignore trailing spaces, change character sets, refuse NUL
// or cannot index that much. So a name is written in printable ASCII, in a
// column that compares byte for byte, and one that is too long for an index is
// found by its digest. Most names look there as they are.

const (
	// maxIndexed is how long a printable name may be to be its own key. What
	// stands for a longer one is 194 bytes long, so the two are never equal.
	maxIndexed = 190
	// kept is how much of a longer one stays readable.
	kept = 128
	// digestMark stands between that and the digest.
	digestMark = "~#"
)

// KeyColumns are what a name is found by, of 194 bytes at most, and the whole of
// it in printable ASCII where that is longer; nil otherwise.
func KeyColumns(name string) (key string, whole any) {
	printable := Printable(name)
	if len(printable) <= maxIndexed {
		return printable, nil
	}
	sum := sha256.Sum256([]byte(name))
	return printable[:kept] + digestMark + hex.EncodeToString(sum[:]), printable
}

// IsDigested reports whether a name is what KeyColumns answers for a longer one.
func IsDigested(key string) bool {
	if len(key) != kept+len(digestMark)+2*sha256.Size || key[kept:kept+len(digestMark)] != digestMark {
		return false
	}
	_, err := hex.DecodeString(key[kept+len(digestMark):])
	return err == nil
}

// KeyRange answers between what keys those of all names with a prefix lie: from
// is included, to is not. Others can lie there too.
func KeyRange(prefix string) (from, to string) {
	from = PrintablePrefix(prefix)
	from = from[:min(len(from), kept)]
	return from, from + "\x7f" // after all that is printable
}

// PrintablePrefix is how the printable forms of all names with a prefix begin.
func PrintablePrefix(prefix string) string {
	return strings.TrimSuffix(Printable(prefix+"."), ".") // a space at its end is in the middle of them
}

// Printable writes a name in printable ASCII: everything else, the backslash and
// a space at the end become escapes of Go's.
func Printable(name string) string {
	if isPrintable(name) {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	text := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if body, ok := strings.CutSuffix(text, " "); ok { // which some collations would ignore
		text = body + `\x20`
	}
	return text
}

// ParsePrintable is the inverse of Printable.
func ParsePrintable(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	name := make([]byte, 0, len(text))
	for text != "" {
		r, multibyte, tail, err := strconv.UnquoteChar(text, 0)
		if err != nil {
			return "", err
		}
		if multibyte || r < 0x80 {
			name = append(name, string(r)...)
		} else {
			name = append(name, byte(r))
		}
		text = tail
	}
	return string(name), nil
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e || s[i] == '\\' {
			return false
		}
	}
	return !strings.HasSuffix(s, " ")
}
