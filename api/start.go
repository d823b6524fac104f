package api

import (
	"time"

	"github.com/duly-dev/duly"
)

// StartRequest declares an occurrence that a platform's cron starts.
type StartRequest struct {
	// Period asks for the occurrence of that business period, Due for the one
	// that is due at that instant. Neither: due now.
	Period string    `json:"period,omitempty"`
	Due    time.Time `json:"due,omitzero"`
	// Define is the definition to be made where the schedule does not exist
	// yet; it must be external.
	Define *duly.Schedule `json:"define,omitempty"`
}

// StartResult is the occurrence and how to claim it.
type StartResult struct {
	Occurrence duly.Occurrence `json:"occurrence"`
	// Capability hands out this occurrence and no other.
	Capability string `json:"capability"`
}
