package cron

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/duly-dev/duly/internal/edits"
)

//go:embed zoneinfo/zoneinfo.zip
var zoneinfo string

// zones indexes the embedded zone data and keeps what has been loaded, so that
// a process holds each zone once.
type zones struct {
	files   map[string]*zip.File
	version string
	loaded  sync.Map // name -> *time.Location
}

// embedded panics if the data is damaged, which the build would have to be.
var embedded = sync.OnceValue(func() *zones {
	r, err := zip.NewReader(strings.NewReader(zoneinfo), int64(len(zoneinfo)))
	if err != nil {
		panic("cron: embedded zone data: " + err.Error())
	}
	z := &zones{files: make(map[string]*zip.File, len(r.File))}
	for _, f := range r.File {
		z.files[f.Name] = f
	}
	const entry = "+VERSION" // not a zone
	version, err := z.read(entry)
	if err != nil {
		panic("cron: embedded zone data: " + err.Error())
	}
	z.version = string(version)
	delete(z.files, entry)
	return z
})

// LoadZone returns the zone with an IANA name such as "Europe/Berlin", exactly
// as it is spelled there.
//
// The data is embedded in the binary ([TZDataVersion]). Neither the host's
// zone files nor its settings are looked at, since two nodes with different
// ones would compute different due times. For the same reason there is no
// Local, and an empty name is refused rather than taken for UTC.
//
// The error is a [*ParseError] that names the zone and, if there is one that
// looks much like it, the zone that may have been meant.
func LoadZone(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	z := embedded()
	if loc, ok := z.loaded.Load(name); ok {
		return loc.(*time.Location), nil
	}
	if z.files[name] == nil {
		return nil, &ParseError{Expr: name, Field: "zone", Column: 1, Reason: ReasonUnknownZone, Message: z.refusal(name)}
	}
	data, err := z.read(name)
	if err != nil {
		return nil, fmt.Errorf("zone %s: embedded data: %w", name, err)
	}
	loc, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("zone %s: embedded data: %w", name, err)
	}
	kept, _ := z.loaded.LoadOrStore(name, loc)
	return kept.(*time.Location), nil
}

// TZDataVersion returns the release of the IANA time zone database that
// [LoadZone] uses, such as "2026f".
func TZDataVersion() string { return embedded().version }

func (z *zones) read(name string) ([]byte, error) {
	r, err := z.files[name].Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func (z *zones) refusal(name string) string {
	switch {
	case name == "":
		return "a zone is needed, such as UTC or Europe/Berlin"
	case strings.EqualFold(name, "local"):
		return "the zone of a host differs from node to node; name it, such as Europe/Berlin"
	}
	if near := z.nearest(name); near != "" {
		return fmt.Sprintf("unknown zone in tzdb %s; did you mean %s?", z.version, near)
	}
	return fmt.Sprintf("unknown zone in tzdb %s; use an IANA name such as UTC or Europe/Berlin", z.version)
}

// nearest returns the zone that differs only in case, spaces or a missing
// continent, or in up to two letters.
func (z *zones) nearest(name string) string {
	const far = 3
	best, distance := "", far
	want := strings.NewReplacer(" ", "_", `\`, "/").Replace(strings.ToLower(strings.TrimSpace(name)))
	for candidate := range z.files {
		have := strings.ToLower(candidate)
		d := far
		switch {
		case have == want:
			d = 0
		case strings.HasSuffix(have, "/"+want):
			d = 1
		case strings.Contains(want, "/") && len(want) < 64:
			d = edits.Between(have, want)
		}
		// The map has no order: prefer the shorter, then the earlier name.
		if d < distance || d == distance && d < far && before(candidate, best) {
			best, distance = candidate, d
		}
	}
	return best
}

func before(a, b string) bool {
	return len(a) < len(b) || len(a) == len(b) && a < b
}
