package drill

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// The measures of a drawn timeline, in units of its viewBox.
const (
	svgWidth   = 1000.0
	svgLeft    = 74.0 // names of nodes
	svgRight   = 16.0
	svgTop     = 8.0
	svgLane    = 52.0
	svgBar     = 18.0
	svgAxis    = 26.0
	svgLetters = 6.2 // about the width of a letter in a bar
)

// drawing puts a timeline into an SVG picture.
type drawing struct {
	b     strings.Builder
	t     *Timeline
	lanes map[string]float64 // the middle of a node's lane
	whole float64            // the height of all lanes
	span  time.Duration
}

// svg draws who held which token when, where effects happened, and what was
// done to whom.
func (t *Timeline) svg(title string) string {
	d := &drawing{t: t, lanes: map[string]float64{}, span: max(t.End.Sub(t.Start), time.Millisecond)}
	for i, n := range t.Nodes {
		d.lanes[n] = svgTop + svgLane*(float64(i)+0.5)
	}
	d.whole = svgTop + svgLane*float64(len(t.Nodes))
	d.add(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, svgWidth, d.whole+svgAxis, html.EscapeString("Timeline of "+title))
	d.axis()
	d.lives()
	d.outages()
	d.attempts()
	d.marks()
	d.add(`</svg>`)
	return d.b.String()
}

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func (d *drawing) x(at time.Time) float64 {
	part := float64(at.Sub(d.t.Start)) / float64(d.span)
	return math.Round((svgLeft+min(max(part, 0), 1)*(svgWidth-svgLeft-svgRight))*10) / 10
}

// axis draws seconds, as close together as can be read.
func (d *drawing) axis() {
	step := 100 * time.Millisecond
	for _, s := range []time.Duration{200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 300_000} {
		if d.span/step <= 10 {
			break
		}
		step = s * time.Millisecond
	}
	for at := time.Duration(0); at <= d.span; at += step {
		x := d.x(d.t.Start.Add(at))
		d.add(`<line class="grid" x1="%g" x2="%g" y1="%g" y2="%g"/>`, x, x, svgTop, d.whole)
		d.add(`<text class="axis" x="%g" y="%g" text-anchor="middle">%gs</text>`, x, d.whole+16, at.Seconds())
	}
}

// lives draws when each node's process lived, and when it stood still.
func (d *drawing) lives() {
	for _, n := range d.t.Nodes {
		y := d.lanes[n]
		d.add(`<text class="node" x="4" y="%g">%s</text>`, y+4, html.EscapeString(n))
		var born, stopped time.Time
		live := func(to time.Time) {
			if !born.IsZero() {
				d.add(`<rect class="life" x="%g" y="%g" width="%g" height="%g"/>`, d.x(born), y-svgBar/2, d.x(to)-d.x(born), svgBar)
			}
			born = time.Time{}
		}
		for _, m := range d.t.Marks {
			if m.Node != n {
				continue
			}
			switch m.Kind {
			case MarkStart:
				born = m.At
			case MarkKill, MarkExit:
				live(m.At)
			case MarkStop:
				stopped = m.At
			case MarkContinue:
				d.add(`<rect class="frozen" x="%g" y="%g" width="%g" height="%g"><title>paused for %v</title></rect>`,
					d.x(stopped), y-svgBar/2-4, d.x(m.At)-d.x(stopped), svgBar+8, m.At.Sub(stopped).Round(time.Millisecond))
			}
		}
		live(d.t.End)
	}
}

// outages draws when the store could not be reached.
func (d *drawing) outages() {
	var cut time.Time
	for _, m := range d.t.Marks {
		switch m.Kind {
		case MarkCut:
			cut = m.At
		case MarkBack:
			d.add(`<rect class="outage" x="%g" y="%g" width="%g" height="%g"><title>the store cannot be reached, for %v</title></rect>`,
				d.x(cut), svgTop, d.x(m.At)-d.x(cut), d.whole-svgTop, m.At.Sub(cut).Round(time.Millisecond))
			d.add(`<text class="label" x="%g" y="%g">store cut</text>`, d.x(cut)+3, svgTop+9)
		}
	}
}

func (d *drawing) attempts() {
	for _, a := range d.t.Attempts {
		y, known := d.lanes[a.Node]
		if !known {
			continue
		}
		x, width := d.x(a.From), max(d.x(a.To)-d.x(a.From), 3)
		d.add(`<g><rect class="attempt %s" x="%g" y="%g" width="%g" height="%g" rx="3"/>`, html.EscapeString(string(a.Outcome)), x, y-svgBar/2, width, svgBar)
		label := fmt.Sprintf("attempt %d · token %d", a.Attempt, a.Token)
		if width < svgLetters*float64(len(label)) {
			label = fmt.Sprintf("%d·%d", a.Attempt, a.Token)
		}
		if width >= svgLetters*float64(len(label)) {
			d.add(`<text class="inside" x="%g" y="%g">%s</text>`, x+4, y+4, label)
		}
		how := string(a.Outcome)
		if a.Error != "" {
			how += ": " + a.Error
		}
		d.add(`<title>%s</title></g>`, html.EscapeString(fmt.Sprintf("attempt %d of %s\ntoken %d, %v\n%s", a.Attempt, a.Occurrence, a.Token, a.To.Sub(a.From).Round(time.Millisecond), how)))
		if a.Refused != "" {
			d.flag(a.RefusedAt, y, above, "refused", "stale report refused", fmt.Sprintf("attempt %d of %s (token %d) reported %s after it had lost its ownership, and was refused", a.Attempt, a.Occurrence, a.Token, a.Refused))
		}
	}
}

func (d *drawing) marks() {
	labels := map[MarkKind]string{MarkKill: "SIGKILL", MarkTerm: "SIGTERM", MarkStop: "SIGSTOP", MarkContinue: "SIGCONT", MarkNote: "hangs"}
	for _, m := range d.t.Marks {
		y, known := d.lanes[m.Node]
		if !known {
			continue
		}
		since := m.At.Sub(d.t.Start).Round(time.Millisecond)
		switch label := labels[m.Kind]; {
		case m.Kind == MarkEffect || m.Kind == MarkReused:
			x, top := d.x(m.At), y-svgBar/2-7
			d.add(`<path class="%s" d="M%g %g l5 5 l-5 5 l-5 -5 z"><title>%s</title></path>`, m.Kind, x, top-2, html.EscapeString(fmt.Sprintf("%v: %s", since, m.Words())))
		case label != "":
			d.flag(m.At, y, below, "signal", label, fmt.Sprintf("%v: %s", since, m.Words()))
		}
	}
}

// Where the word of a flag stands: signals below a lane and refusals above it,
// since they come close together.
const (
	below = svgBar/2 + 11
	above = -svgBar/2 - 15
)

// flag is a line across a lane with a word beside it.
func (d *drawing) flag(at time.Time, y, word float64, class, label, title string) {
	x, anchor, dx := d.x(at), "start", 3.0
	if x > svgWidth-120 {
		anchor, dx = "end", -3
	}
	d.add(`<g class="%s"><line x1="%g" x2="%g" y1="%g" y2="%g"/><text x="%g" y="%g" text-anchor="%s">%s</text><title>%s</title></g>`,
		class, x, x, y-svgBar/2-4, y+svgBar/2+4, x+dx, y+word, anchor, html.EscapeString(label), html.EscapeString(title))
}
