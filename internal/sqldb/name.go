package sqldb

import (
	"crypto/sha256"
	"strconv"
	"strings"
)

// A business key or a resource may hold any bytes and be 4 KB long, while
// databases fold case, ignore trailing spaces, refuse NUL or cannot index
// that much. So a name is found by its digest, which is compared byte for byte
// everywhere, and kept beside it in printable ASCII for people.

// Digest is the SHA-256 of a name.
func Digest(name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return sum[:]
}

// Printable writes a name in printable ASCII: everything else, and the
// backslash, becomes an escape of Go's. Most names stay as they are.
func Printable(name string) string {
	if isPrintable(name) {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
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
	return true
}
