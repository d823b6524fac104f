package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"charm.land/lipgloss/v2"
	lipglosstable "charm.land/lipgloss/v2/table"
)

// table is rows under headers. On a terminal it is drawn; otherwise its
// columns are kept apart by two spaces or more, one row a line, so that grep,
// awk and cut can work with it.
type table struct {
	headers []string
	rows    [][]string
	// paint gives a cell its colour on a terminal, by column and text.
	paint func(column int, text string) lipgloss.Style
}

func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = oneLine(c)
	}
	t.rows = append(t.rows, cells)
}

// dropLast takes the last column away, where it turned out to hold nothing.
func (t *table) dropLast() {
	last := len(t.headers) - 1
	t.headers = t.headers[:last]
	for i := range t.rows {
		t.rows[i] = t.rows[i][:last]
	}
}

// show prints a table, or a sentence where it has no rows.
func (inv *invocation) show(t *table, empty string) error {
	if len(t.rows) == 0 {
		_, err := fmt.Fprintln(inv.out, empty)
		return err
	}
	if isTerminal(inv.out) {
		return t.draw(inv.paper())
	}
	return t.plain(inv.out)
}

func (t *table) plain(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range append([][]string{t.headers}, t.rows...) {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	return tw.Flush()
}

func (t *table) draw(w io.Writer) error {
	header := lipgloss.NewStyle().Bold(true).Padding(0, 1)
	cell := lipgloss.NewStyle().Padding(0, 1)
	drawn := lipglosstable.New().
		Border(lipgloss.RoundedBorder()).
		BorderStyle(lipgloss.NewStyle().Faint(true)).
		Headers(t.headers...).
		Rows(t.rows...).
		StyleFunc(func(row, column int) lipgloss.Style {
			if row == lipglosstable.HeaderRow {
				return header
			}
			if t.paint == nil || column >= len(t.rows[row]) {
				return cell
			}
			return t.paint(column, t.rows[row][column]).Padding(0, 1)
		})
	_, err := fmt.Fprintln(w, drawn)
	return err
}

// oneLine keeps a cell within its line and its column.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if s == "" {
		return "-"
	}
	return s
}
