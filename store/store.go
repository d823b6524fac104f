package store

import "context"

// Store is the whole contract.
type Store interface {
	Planner
	Worker
	Definer
	Operator
	Nodes
	Leases
	Reader

	// Watch calls notify when something happened that another process or
	// goroutine of this store did, until ctx ends. It is a wake-up and no more:
	// events may be merged, repeated or lost.
	Watch(ctx context.Context, notify func(Event)) error
	Close() error
}

// Event says that something of a kind changed. An empty Schedule means that
// more than one, or an unknown one, is meant.
type Event struct {
	Topic    Topic  `json:"topic"`
	Schedule string `json:"schedule,omitempty"`
}

// Topic is the kind of thing an event is about.
type Topic string

// The topics. TopicAny comes from stores that only know that something changed.
const (
	TopicAny         Topic = "any"
	TopicSchedules   Topic = "schedules"
	TopicOccurrences Topic = "occurrences"
	TopicNodes       Topic = "nodes"
	TopicLeases      Topic = "leases"
	// TopicCancels: the owner of a running attempt is to learn, by its next
	// Renew, that somebody wants it ended. TopicOccurrences comes with it.
	TopicCancels Topic = "cancels"
)
