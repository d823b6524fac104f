package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/goccy/go-yaml"
)

const (
	formatTable = "table"
	formatJSON  = "json"
	formatYAML  = "yaml"
)

var formats = []string{formatTable, formatJSON, formatYAML}

// print shows a value in the form that was asked for. table is called for the
// form that is made for people.
func (inv *invocation) print(value any, table func() error) error {
	if inv.flags.output == formatTable {
		return table()
	}
	write := jsonText
	if inv.flags.output == formatYAML {
		write = yamlText
	}
	text, err := write(value)
	if err != nil {
		return err
	}
	_, err = io.WriteString(inv.out, text)
	return err
}

// printPage is print for a page of a list. It says how to go on where there is
// more.
func (inv *invocation) printPage(value any, next string, table func() error) error {
	if err := inv.print(value, table); err != nil {
		return err
	}
	if next != "" && inv.flags.output == formatTable {
		inv.note("there is more: add --cursor %s", next)
	}
	return nil
}

// yamlText writes the same names and values as jsonText.
func yamlText(value any) (string, error) {
	text, err := jsonText(value)
	if err != nil {
		return "", err
	}
	out, err := yaml.JSONToYAML([]byte(text))
	if err != nil {
		return "", fmt.Errorf("write YAML: %w", err)
	}
	return string(out), nil
}

func jsonText(value any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return "", fmt.Errorf("write JSON: %w", err)
	}
	return b.String(), nil
}

// say prints a line for people; it is silent where a program reads.
func (inv *invocation) say(format string, args ...any) {
	if inv.flags.output == formatTable {
		fmt.Fprintf(inv.out, format+"\n", args...)
	}
}

// note prints a line beside the output, on stderr, in every form.
func (inv *invocation) note(format string, args ...any) {
	fmt.Fprintf(inv.err, format+"\n", args...)
}
