package drill

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// event is a line that a node writes to its standard output.
type event struct {
	At         time.Time `json:"at"`
	Kind       eventKind `json:"kind"`
	Occurrence string    `json:"occurrence,omitempty"`
	Period     string    `json:"period,omitempty"`
	Attempt    int       `json:"attempt,omitempty"`
	Token      int64     `json:"token,omitempty"`
	Key        string    `json:"key,omitempty"`
	PID        int       `json:"pid,omitempty"` // of a command, which leads its group
	Text       string    `json:"text,omitempty"`

	node *process // who said it
}

type eventKind string

const (
	saysReady   eventKind = "ready"   // the store is open
	saysBegin   eventKind = "begin"   // an attempt has begun
	saysCommand eventKind = "command" // its command runs as PID
	saysBefore  eventKind = "before"  // it is about to have its effect
	saysEffect  eventKind = "effect"  // it has had it
	saysReused  eventKind = "reused"  // it found it done
	saysAfter   eventKind = "after"   // it has had all of them and has not said so
	saysEnd     eventKind = "end"     // it has returned
)

// gate makes attempts wait at a point until the director opens that point.
type gate struct {
	Point   eventKind `json:"point"`             // saysBefore or saysAfter
	Attempt int       `json:"attempt,omitempty"` // 0: all
	Period  string    `json:"period,omitempty"`  // empty: all
}

// voice writes events, from several goroutines.
type voice struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func newVoice(w io.Writer) *voice { return &voice{enc: json.NewEncoder(w)} }

// say writes an event at once. Nobody listening is no fault of the job's.
func (v *voice) say(e event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e.At = time.Now()
	_ = v.enc.Encode(e)
}
