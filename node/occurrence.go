package node

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/duly-dev/duly"
	"github.com/duly-dev/duly/target"
)

// Occurrence is what a handler is given: which period the work is for, and the
// attempt that owns it.
type Occurrence struct {
	target.Assignment

	result json.RawMessage

	mu      sync.Mutex
	effects []target.Effect
	open    map[string]int // where in effects, by key
}

// Decode reads the payload into v.
func (o *Occurrence) Decode(v any) error {
	if len(o.Payload) == 0 {
		return fmt.Errorf("occurrence %s has no payload", o.Assignment.Occurrence)
	}
	if err := json.Unmarshal(o.Payload, v); err != nil {
		return fmt.Errorf("payload of %s: %w", o.Schedule, err)
	}
	return nil
}

// SetResult keeps a value, as JSON, with the attempt.
func (o *Occurrence) SetResult(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("result of %s: %w", o.Assignment.Occurrence, err)
	}
	o.result = data
	return nil
}

// RecordEffect tells history that this attempt caused the effect with a
// business key, or found it done by an earlier one (reused).
// Package effect calls it by itself.
func (o *Occurrence) RecordEffect(key string, reused bool, result json.RawMessage) {
	o.record(duly.EffectReport{Key: key, Reused: reused, Result: result})
}

// record keeps the last that is told of an effect which is open.
func (o *Occurrence) record(e duly.EffectReport) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i, ok := o.open[e.Key]; ok {
		o.effects[i] = e
		if !e.Open {
			delete(o.open, e.Key)
		}
		return
	}
	if e.Open {
		if o.open == nil {
			o.open = map[string]int{}
		}
		o.open[e.Key] = len(o.effects)
	}
	o.effects = append(o.effects, e)
}

func (o *Occurrence) recorded() []target.Effect {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.effects
}
