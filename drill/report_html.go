package drill

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed report.html.tmpl
var reportPage string

// WriteHTML writes a report as one page that needs nothing else: no script, no
// address.
func (r *Report) WriteHTML(w io.Writer) error {
	page, err := template.New("report").Funcs(template.FuncMap{
		"picture": func(s Result) template.HTML { return template.HTML(s.Timeline.svg(s.Name)) }, // #nosec: svg escapes what it is given
		"lines": func(s Result) (string, error) {
			var b strings.Builder
			err := s.Timeline.WriteText(&b)
			return b.String(), err
		},
		"seconds": func(ms int64) string {
			if ms == 0 {
				return "–"
			}
			return fmt.Sprintf("%.1f s", float64(ms)/1000)
		},
		"day":      func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 MST") },
		"scenario": describe,
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	return page.Execute(w, r)
}

func describe(name string) Scenario {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s
		}
	}
	return Scenario{}
}
