package drill

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Stamp    string      `xml:"timestamp,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a report in the form that CI systems read.
func (r *Report) WriteJUnit(w io.Writer) error {
	seconds := func(ms int64) string { return fmt.Sprintf("%.3f", float64(ms)/1000) }
	suite := junitSuite{
		Name: "duly drill (" + r.Store + ")", Tests: len(r.Scenarios), Time: seconds(r.DurationMS),
		Stamp: r.StartedAt.UTC().Format("2006-01-02T15:04:05"),
	}
	for _, s := range r.Scenarios {
		var timeline strings.Builder
		if err := s.Timeline.WriteText(&timeline); err != nil {
			return err
		}
		c := junitCase{Class: "duly.drill." + r.Store, Name: s.Name, Time: seconds(s.DurationMS), Output: timeline.String()}
		if s.Verdict == Fail {
			suite.Failures++
			c.Failure = &junitFailure{Message: strings.Join(s.Why[:1], ""), Text: strings.Join(s.Why, "\n")}
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
