package server

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/api"
	"github.com/duly-dev/duly/store"
)

// newAPI sets huma up: JSON only, errors as problems, nothing from a CDN, and
// schemas for the types of packages that know nothing of it. No global of
// huma's is changed, so that a program may use it beside us.
func newAPI(mux *http.ServeMux, transform huma.Transformer) huma.API {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	registry.RegisterTypeAlias(reflect.TypeFor[huma.ErrorModel](), reflect.TypeFor[api.Problem]())
	registry.RegisterTypeAlias(reflect.TypeFor[duly.Duration](), reflect.TypeFor[durationSchema]())
	aliasEnum[duly.State](registry)
	aliasEnum[duly.Outcome](registry)
	aliasEnum[duly.Origin](registry)
	aliasEnum[duly.Waiting](registry)
	aliasEnum[duly.PeriodUnit](registry)
	aliasEnum[duly.Overlap](registry)
	aliasEnum[duly.OnFailure](registry)
	aliasEnum[duly.CatchUpPolicy](registry)
	aliasEnum[duly.WhenUnavailable](registry)
	aliasEnum[duly.Code](registry)
	aliasEnum[store.Action](registry)
	aliasEnum[store.Topic](registry)
	aliasEnum[api.NodeState](registry)
	aliasEnum[api.TriggerStatus](registry)
	aliasEnum[api.BackfillRule](registry)
	aliasEnum[api.BackfillAction](registry)
	return humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Duly", Version: "1",
				Description: "Scheduled work that happens when it is due, on one node, with one effect. " +
					"A schedule produces occurrences; an occurrence is tried in attempts; attempts cause effects.",
				License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
			},
			Servers:    []*huma.Server{{URL: "/"}},
			Components: &huma.Components{Schemas: registry},
			Tags:       tags(),
		},
		Formats:       map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{transform},
	})
}

func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "schedules", Description: "Definitions, where they stand, and what people ask of them."},
		{Name: "definitions", Description: "Many definitions at once: apply, declare, look ahead."},
		{Name: "occurrences", Description: "Pieces of work that schedules owe, with attempts and effects."},
		{Name: "workers", Description: "The protocol of those who do the work: join, claim, renew, finish."},
		{Name: "leases", Description: "Named leases: ownership of something that is no occurrence."},
		{Name: "status", Description: "Nodes, queues, counts, the audit, and events."},
	}
}

// schemaName names a page of things after the things: OccurrenceList.
func schemaName(t reflect.Type, hint string) string {
	if t.Kind() == reflect.Struct && t.NumField() > 0 && t.PkgPath() == reflect.TypeFor[api.Problem]().PkgPath() {
		if f := t.Field(0); f.Name == "Items" && len(t.Name()) > 5 && t.Name()[:5] == "List[" {
			return f.Type.Elem().Name() + "List"
		}
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// durationSchema describes duly.Duration.
type durationSchema struct{}

func (durationSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type:               huma.TypeString,
		Description:        "A length of time: a number and a unit (ms, s, m, h, d = 24 h, w = 7 d), or several.",
		Pattern:            `^\s*([0-9]+w)?([0-9]+d)?([0-9.]+(ns|us|µs|μs|ms|s|m|h))*0?\s*$`,
		PatternDescription: `a duration, such as "30s", "15m", "2h" or "7d"`,
		Examples:           []any{"15m"},
		Extensions:         map[string]any{named: "Duration"},
	}
}

// named marks a schema that deserves a name of its own in the published
// description, though huma writes it out wherever it is used.
const named = "x-name"

// enumSchema describes a type of which all values are known.
type enumSchema[T ~string] struct{}

func (enumSchema[T]) Schema(huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	name := t.Name()
	if t == reflect.TypeFor[duly.Code]() {
		name = "ErrorCode"
	}
	return &huma.Schema{Type: huma.TypeString, Enum: enumValues(t), Extensions: map[string]any{named: name}}
}

func aliasEnum[T ~string](r huma.Registry) {
	r.RegisterTypeAlias(reflect.TypeFor[T](), reflect.TypeFor[enumSchema[T]]())
}

func values[T any](all ...T) []any {
	list := make([]any, len(all))
	for i, v := range all {
		list[i] = reflect.ValueOf(v).String()
	}
	return list
}

func enumValues(t reflect.Type) []any {
	switch t {
	case reflect.TypeFor[duly.State]():
		return values(duly.States...)
	case reflect.TypeFor[duly.Outcome]():
		return values(append([]duly.Outcome{duly.AttemptRunning, duly.AttemptLost}, duly.Outcomes...)...)
	case reflect.TypeFor[duly.Origin]():
		return values(duly.OriginSchedule, duly.OriginCatchUp, duly.OriginTrigger, duly.OriginBackfill, duly.OriginExternal)
	case reflect.TypeFor[duly.Waiting]():
		return values(duly.WaitingSlot, duly.WaitingTime, duly.WaitingEarlier)
	case reflect.TypeFor[duly.PeriodUnit]():
		return values(duly.PeriodInstant, duly.PeriodHour, duly.PeriodDay, duly.PeriodWeek, duly.PeriodMonth)
	case reflect.TypeFor[duly.Overlap]():
		return values(duly.OverlapWait, duly.OverlapSkip, duly.OverlapCombine, duly.OverlapAllow, duly.OverlapReplace)
	case reflect.TypeFor[duly.OnFailure]():
		return values(duly.OnFailureContinue, duly.OnFailureHold)
	case reflect.TypeFor[duly.CatchUpPolicy]():
		return values(duly.CatchUpNone, duly.CatchUpLatest, duly.CatchUpAll, duly.CatchUpCombine)
	case reflect.TypeFor[duly.WhenUnavailable]():
		return values(duly.UnavailableWait)
	case reflect.TypeFor[duly.Code]():
		return values(duly.CodeInvalid, duly.CodeNotFound, duly.CodeConflict, duly.CodeNotHolder, duly.CodeStaleToken,
			duly.CodeUnavailable, duly.CodeUncertain, duly.CodeInternal)
	case reflect.TypeFor[store.Action]():
		return values(store.ActionCreate, store.ActionUpdate, store.ActionRemove, store.ActionKeep, store.ActionIgnore)
	case reflect.TypeFor[store.Topic]():
		return values(store.TopicAny, store.TopicSchedules, store.TopicOccurrences, store.TopicNodes, store.TopicLeases)
	case reflect.TypeFor[api.NodeState]():
		return values(api.NodeLive, api.NodeLeft, api.NodeGone)
	case reflect.TypeFor[api.TriggerStatus]():
		return values(api.TriggerCreated, api.TriggerDuplicate)
	case reflect.TypeFor[api.BackfillRule]():
		return values(api.BackfillMissing, api.BackfillFailed, api.BackfillAll)
	case reflect.TypeFor[api.BackfillAction]():
		return values(api.BackfillCreate, api.BackfillRetry, api.BackfillKeep)
	}
	panic("server: no values are known of " + t.String())
}

// finishSpec mends what types alone cannot say, once every operation is
// registered.
func finishSpec(spec *huma.OpenAPI) {
	schemas := spec.Components.Schemas.Map()
	for _, s := range schemas {
		notNull(s)
	}
	for _, item := range spec.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			for _, p := range op.Parameters {
				notNull(p.Schema)
			}
		}
	}
	// A schedule that is external needs no target; whether one is missing is
	// for the definition's own check to say.
	for _, name := range []string{"Schedule", "ScheduleStatus"} {
		optional(schemas[name], "target")
	}
	// The Go names of Timing.Anchor and ScheduleStatus.Anchor are the same,
	// which hides the one of the definition; on the wire both are there.
	schemas["ScheduleStatus"].Properties["anchor"] = schemas["Schedule"].Properties["anchor"]
	choice := func(schema, property string, all ...string) {
		p := schemas[schema].Properties[property]
		p.Enum = values(all...)
	}
	choice("DST", "gap", "next", "shift", "skip")
	choice("DST", "overlap", "first", "last", "both")
	choice("CalendarRule", "otherwise", "skip", "next", "previous")
	for _, s := range schemas {
		s.PrecomputeMessages()
	}
}

// notNull says that arrays are never null: the server answers [] and takes a
// missing one for empty.
func notNull(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	notNull(s.Items)
	for _, p := range s.Properties {
		notNull(p)
	}
	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		notNull(more)
	}
}

func optional(s *huma.Schema, property string) {
	kept := s.Required[:0]
	for _, name := range s.Required {
		if name != property {
			kept = append(kept, name)
		}
	}
	s.Required = kept
}
