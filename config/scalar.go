package config

import (
	"math/big"
	"regexp"
	"strings"
)

// The plain scalars of the YAML 1.2 core schema, and those that YAML 1.1 reads
// as other numbers than 1.2 does.
var (
	integerText   = regexp.MustCompile(`^[-+]?[0-9]+$`)
	prefixedText  = regexp.MustCompile(`^0(x[0-9a-fA-F]+|o[0-7]+)$`)
	decimalText   = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	ambiguousText = regexp.MustCompile(`^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|[-+]?(?:0[0-9]+|0b[01_]+|0x[0-9a-fA-F]*_[0-9a-fA-F_]*|[0-9]+_[0-9_]*))$`)
)

// resolve says what an unquoted scalar is, and how JSON writes it where it is
// a number: digit for digit, so that nothing is rounded. kindBad marks a text
// that readers of YAML disagree about.
func resolve(text string) (kind nodeKind, number string) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return kindNull, ""
	case "true", "True", "TRUE", "false", "False", "FALSE":
		return kindBool, ""
	}
	if c := text[0]; c != '-' && c != '+' && c != '.' && (c < '0' || c > '9') {
		return kindText, ""
	}
	switch {
	case ambiguousText.MatchString(text):
		return kindBad, ""
	case integerText.MatchString(text):
		return kindInteger, strings.TrimPrefix(text, "+")
	case prefixedText.MatchString(text):
		base := 16
		if text[1] == 'o' {
			base = 8
		}
		if len(text) > 1000 {
			return kindBad, ""
		}
		n, _ := new(big.Int).SetString(text[2:], base)
		return kindInteger, n.String()
	case decimalText.MatchString(text):
		return kindDecimal, jsonDecimal(text)
	}
	return kindText, ""
}

// jsonDecimal writes a decimal number as JSON wants it: digits on both sides
// of the point, one leading zero at most, no plus.
func jsonDecimal(text string) string {
	sign := ""
	if text[0] == '-' {
		sign = "-"
	}
	text = strings.TrimLeft(text, "+-")
	end := strings.IndexAny(text, "eE")
	if end < 0 {
		end = len(text)
	}
	whole, fraction, pointed := strings.Cut(text[:end], ".")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if pointed && fraction == "" {
		fraction = "0"
	}
	if pointed {
		whole += "." + fraction
	}
	return sign + whole + text[end:]
}
