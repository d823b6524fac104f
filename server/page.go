package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/cron"
	"github.com/duly-dev/duly/store"
)

//go:embed pages
var pages embed.FS

const (
	pageSchedules   = 200
	pageAttention   = 20
	pageOccurrences = 30
	pageTime        = 5 * time.Second
)

// views are the pages for people: no script, nothing from elsewhere, and a
// policy that allows neither.
type views struct {
	status, occurrence *template.Template
	policy             string
}

func newViews() views {
	css, err := pages.ReadFile("pages/style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	funcs := template.FuncMap{
		"style": func() template.CSS { return template.CSS(css) }, //nolint:gosec // our own file
		"utc":   func(t time.Time) string { return t.UTC().Format("2 Jan 2006 15:04:05 UTC") },
		"took":  took,
	}
	parse := func(name string) *template.Template {
		return template.Must(template.New("layout.html").Funcs(funcs).ParseFS(pages, "pages/layout.html", "pages/"+name))
	}
	sum := sha256.Sum256(css)
	return views{
		status: parse("status.html"), occurrence: parse("occurrence.html"),
		policy: "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
}

func (s *Server) routePages() {
	v := newViews()
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		page, status := s.statusPage(r.Context())
		s.show(w, r, v, v.status, status, page)
	})
	s.mux.HandleFunc("GET /occurrences/{id}", func(w http.ResponseWriter, r *http.Request) {
		page, status := s.occurrencePage(r.Context(), r.PathValue("id"))
		s.show(w, r, v, v.occurrence, status, page)
	})
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, v views, t *template.Template, status int, page any) {
	var out bytes.Buffer
	if err := t.Execute(&out, page); err != nil {
		panic(err) // answered as an internal error
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", v.policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(out.Bytes()); err != nil {
		s.log.Debug("the client went away before its answer", "request", requestID(r.Context()), "error", err)
	}
}

// statusView is what the status page shows.
type statusView struct {
	Title, Version, Trouble string
	Now                     time.Time
	Stats                   store.Stats
	PausedQueues            []store.QueueStatus
	Schedules               []scheduleRow
	More                    bool
	Attention, Newest       []occurrenceRow
}

type scheduleRow struct {
	ID, Description, Owner, Paused string
	Next, In, NoNext               string
	Last                           *store.LastOccurrence
	LastLink, LastDue              string
	Orphaned                       bool
}

type occurrenceRow struct {
	ID, Link, Due, Reason string
	State                 duly.State
	Attempts              []duly.Attempt
}

func (s *Server) statusPage(ctx context.Context) (statusView, int) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	page := statusView{Title: "Duly", Version: s.version}
	fail := func(err error) (statusView, int) {
		p := s.fail(ctx, "", err)
		page.Trouble = p.Detail
		return page, p.Status
	}
	var err error
	if page.Stats, err = s.store.Stats(ctx); err != nil {
		return fail(err)
	}
	page.Now = page.Stats.Now
	queues, err := s.store.Queues(ctx)
	if err != nil {
		return fail(err)
	}
	page.PausedQueues = slices.DeleteFunc(queues, func(q store.QueueStatus) bool { return q.Paused == nil })
	schedules, more, err := s.store.Schedules(ctx, store.ScheduleFilter{}, store.Page{Limit: pageSchedules})
	if err != nil {
		return fail(err)
	}
	attention, _, err := s.store.Occurrences(ctx, store.OccurrenceFilter{Attention: true}, store.Page{Limit: pageAttention})
	if err != nil {
		return fail(err)
	}
	newest, _, err := s.store.Occurrences(ctx, store.OccurrenceFilter{}, store.Page{Limit: pageOccurrences})
	if err != nil {
		return fail(err)
	}
	zones := map[string]*time.Location{}
	page.More = more != ""
	for _, sched := range schedules {
		zones[sched.ID] = zoneOf(sched.Schedule)
		page.Schedules = append(page.Schedules, rowOf(sched, zones[sched.ID], page.Now))
	}
	page.Attention, page.Newest = rows(attention, zones), rows(newest, zones)
	if page.Stats.Attention > 0 {
		page.Title = "Duly: attention"
	}
	return page, http.StatusOK
}

func rowOf(s store.ScheduleStatus, zone *time.Location, now time.Time) scheduleRow {
	row := scheduleRow{ID: s.ID, Description: s.Description, Owner: s.Owner, Orphaned: s.Orphaned, Last: s.Last, NoNext: "never again"}
	if s.External {
		row.NoNext = "timed by its platform"
	}
	if s.Paused != nil {
		row.Paused = s.Paused.By
	}
	if !s.NextDue.IsZero() {
		row.Next, row.In = local(s.NextDue, zone), distance(s.NextDue.Sub(now))
	}
	if s.Last != nil {
		row.LastLink, row.LastDue = pageLink(s.Last.ID), local(s.Last.Due, zone)
	}
	return row
}

func rows(list []duly.Occurrence, zones map[string]*time.Location) []occurrenceRow {
	out := make([]occurrenceRow, len(list))
	for i, o := range list {
		zone := zones[o.Schedule]
		if zone == nil {
			zone = time.UTC
		}
		out[i] = occurrenceRow{ID: o.ID, Link: pageLink(o.ID), Due: local(o.Due, zone), Reason: o.Reason, State: o.State, Attempts: o.Attempts}
	}
	return out
}

// occurrenceView is what the page of an occurrence shows.
type occurrenceView struct {
	Title, Trouble, Due string
	Occurrence          duly.Occurrence
}

func (s *Server) occurrencePage(ctx context.Context, id string) (occurrenceView, int) {
	ctx, cancel := context.WithTimeout(ctx, pageTime)
	defer cancel()
	page := occurrenceView{Title: id}
	o, err := s.store.Occurrence(ctx, id)
	if err != nil {
		p := s.fail(ctx, "", err)
		page.Trouble = p.Detail
		return page, p.Status
	}
	zone := time.UTC
	if sched, err := s.store.Schedule(ctx, o.Schedule); err == nil { // it may be removed by now
		zone = zoneOf(sched.Schedule)
	}
	page.Occurrence, page.Due = o, local(o.Due, zone)
	return page, http.StatusOK
}

func pageLink(id string) string { return "/occurrences/" + url.PathEscape(id) }

// zoneOf is a schedule's zone; one that this program does not know is UTC.
func zoneOf(s duly.Schedule) *time.Location {
	zone, err := cron.LoadZone(s.WithDefaults().Timezone)
	if err != nil {
		return time.UTC
	}
	return zone
}

func local(t time.Time, zone *time.Location) string {
	return t.In(zone).Format("Mon 2 Jan 15:04:05 MST")
}

// distance says how far away a time is, roughly.
func distance(d time.Duration) string {
	if d < 0 {
		return "now"
	}
	switch {
	case d < 2*time.Minute:
		return "in " + d.Round(time.Second).String()
	case d < 2*time.Hour:
		return "in " + itoa(int(d.Minutes())) + " minutes"
	case d < 48*time.Hour:
		return "in " + itoa(int(d.Hours())) + " hours"
	}
	return "in " + itoa(int(d.Hours()/24)) + " days"
}

// took is how long an attempt took, or has taken so far.
func took(a duly.Attempt) string {
	if a.FinishedAt.IsZero() {
		return ""
	}
	return a.FinishedAt.Sub(a.StartedAt).Round(time.Millisecond).String()
}
