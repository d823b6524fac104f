package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxFilled is how many bytes of a file a placeholder may stand for.
const maxFilled = 1 << 20

// filler finds what placeholders stand for.
type filler struct {
	folder  string // that relative paths start from
	env     func(string) (string, bool)
	secrets []string
}

// filled returns a text with its placeholders filled in. Each text is filled
// once, however many schedules share it.
func (d *decoder) filled(n *node) (string, bool) {
	if !strings.Contains(n.text, "${") {
		return n.text, true
	}
	if !n.resolved {
		n.resolved = true
		d.resolve(n)
	}
	if n.broken {
		d.faulty[n] = true
	}
	return n.filled, !n.broken && d.spend(n)
}

func (d *decoder) resolve(n *node) {
	var b strings.Builder
	for rest := n.text; rest != ""; {
		if after, escaped := strings.CutPrefix(rest, "$${"); escaped {
			b.WriteString("${")
			rest = after
			continue
		}
		if !strings.HasPrefix(rest, "${") {
			next := strings.IndexByte(rest[1:], '$') + 1
			if next == 0 {
				next = len(rest)
			}
			b.WriteString(rest[:next])
			rest = rest[next:]
			continue
		}
		inner, after, closed := strings.Cut(rest[2:], "}")
		value, err := "", error(nil)
		if closed {
			value, err = d.fill.lookUp(inner)
		} else {
			inner, err = "", fmt.Errorf("the placeholder has no closing }; write $${ where ${ is meant as text")
		}
		if err != nil {
			d.placeholderFault(n, len(n.text)-len(rest), utf8.RuneCountInString(inner)+3, err)
			n.broken = true
			if !closed {
				return
			}
		}
		n.secrets = append(n.secrets, value)
		d.fill.secrets = append(d.fill.secrets, value)
		b.WriteString(value)
		rest = after
	}
	n.filled = b.String()
}

// placeholderFault points at a placeholder within a text where the source has
// the text as it is, otherwise at the text.
func (d *decoder) placeholderFault(n *node, offset, width int, err error) {
	shift, literal := d.literal(n)
	if !literal {
		d.fault(n, "%v", err)
		return
	}
	col := n.col + shift + utf8.RuneCountInString(n.text[:offset])
	d.faultAt(n.line, col, width, err.Error())
}

// lookUp finds the value of what stands between the braces.
func (f *filler) lookUp(inner string) (string, error) {
	scheme, name, ok := strings.Cut(inner, ":")
	switch {
	case ok && scheme == "env" && name != "":
		return f.variable(name)
	case ok && scheme == "file" && name != "":
		return f.file(name)
	}
	return "", fmt.Errorf("${%s} is not a placeholder; write ${env:NAME} or ${file:PATH}, or $${%[1]s} for the text itself", inner)
}

func (f *filler) variable(name string) (string, error) {
	value, ok := f.env(name)
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	if !utf8.ValidString(value) {
		return "", fmt.Errorf("the environment variable %s does not hold valid UTF-8", name)
	}
	return value, nil
}

func (f *filler) file(name string) (string, error) {
	data, err := f.read(name, maxFilled)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", fmt.Errorf("%s does not hold valid UTF-8", name)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}

// read reads a regular file, bounded: a device or a pipe could keep it waiting.
func (f *filler) read(name string, limit int64) ([]byte, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.folder, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", strconv.Quote(path), cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be read: %w", path, cause(err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%q cannot be read: %w", path, cause(err))
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%q is longer than %d bytes", path, limit)
	}
	return data, nil
}
