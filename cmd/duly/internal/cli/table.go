package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"charm.land/lipgloss/v2"
	lipglosstable "charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
)

// table is rows under headers. On a terminal it is drawn, as wide as that
// allows; otherwise its columns are kept apart by two spaces or more, one row a
// line and nothing left out, so that grep, awk and cut can work with it.
type table struct {
	columns []column
	rows    [][]string
}

type column struct {
	name string
	// word: cells begin with a word that has a colour.
	word bool
	// elastic cells are cut short where the terminal is narrow.
	elastic bool
	// spare says in which order columns are left out where that is not
	// enough, 1 first. 0: never.
	spare int
}

func (t *table) add(cells ...string) {
	for i, c := range cells {
		cells[i] = oneLine(c)
	}
	t.rows = append(t.rows, cells)
}

// drop takes a column away.
func (t *table) drop(i int) {
	t.columns = slices.Delete(slices.Clone(t.columns), i, i+1)
	rows := make([][]string, len(t.rows))
	for r, row := range t.rows {
		rows[r] = slices.Delete(slices.Clone(row), i, i+1)
	}
	t.rows = rows
}

// dropEmpty takes the last column away if no cell of it says anything.
func (t *table) dropEmpty() {
	last := len(t.columns) - 1
	if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[last] != nothing }) {
		t.drop(last)
	}
}

// show prints a table, or a sentence where it has no rows.
func (inv *invocation) show(t *table, empty string) error {
	if len(t.rows) == 0 {
		_, err := fmt.Fprintln(inv.out, empty)
		return err
	}
	if isTerminal(inv.out) {
		return t.draw(inv.paper(), terminalWidth(inv.out))
	}
	return t.plain(inv.out)
}

func (t *table) headers() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

func (t *table) plain(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, row := range append([][]string{t.headers()}, t.rows...) {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	return tw.Flush()
}

func (t *table) draw(w io.Writer, width int) error {
	fitted := *t
	fitted.fit(width)
	padded := lipgloss.NewStyle().Padding(0, 1)
	drawn := lipglosstable.New().
		Border(lipgloss.RoundedBorder()).
		BorderStyle(lipgloss.NewStyle().Faint(true)).
		Headers(fitted.headers()...).
		Rows(fitted.rows...).
		StyleFunc(func(row, column int) lipgloss.Style {
			switch {
			case row == lipglosstable.HeaderRow:
				return padded.Bold(true)
			case fitted.columns[column].word:
				return wordStyle(fitted.rows[row][column]).Padding(0, 1)
			}
			return padded
		})
	_, err := fmt.Fprintln(w, drawn)
	return err
}

// fit makes a table narrow enough for a terminal, as far as that can be done
// without taking names and times apart. Width 0 is as wide as it likes.
func (t *table) fit(width int) {
	for order := 1; width > 0; order++ {
		t.shorten(t.width() - width)
		spare := slices.IndexFunc(t.columns, func(c column) bool { return c.spare == order })
		if t.width() <= width || spare < 0 {
			return
		}
		t.drop(spare)
	}
}

// shortest is how short an elastic cell may become.
const shortest = 16

// shorten takes up to a number of columns away from elastic cells.
func (t *table) shorten(by int) {
	for i, c := range t.columns {
		have := t.columnWidth(i)
		want := max(have-by, shortest)
		if !c.elastic || by <= 0 || want >= have {
			continue
		}
		rows := make([][]string, len(t.rows))
		for r, row := range t.rows {
			rows[r] = slices.Clone(row)
			rows[r][i] = ansi.Truncate(row[i], want, "…")
		}
		t.rows = rows
		by -= have - want
	}
}

// width is how wide the table is drawn: a border and two spaces for each cell.
func (t *table) width() int {
	total := 1
	for i := range t.columns {
		total += t.columnWidth(i) + 3
	}
	return total
}

func (t *table) columnWidth(i int) int {
	width := lipgloss.Width(t.columns[i].name)
	for _, row := range t.rows {
		width = max(width, lipgloss.Width(row[i]))
	}
	return width
}

// nothing stands in a cell that has nothing to say.
const nothing = "-"

// oneLine keeps a cell within its line and its column.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if s == "" {
		return nothing
	}
	return s
}
