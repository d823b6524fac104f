package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/duly-dev/duly/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, fresh)
}

// fresh is the URL of a file that is not there yet.
func fresh(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "duly.db") }
