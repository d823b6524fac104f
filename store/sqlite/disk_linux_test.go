package sqlite

import (
	"fmt"
	"syscall"
	"testing"
)

// smallDisk is a directory on a file system of its own with room for so many
// bytes; ok is false where this user may not mount one.
func smallDisk(t *testing.T, size int) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprint("size=", size)); err != nil {
		return "", false
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, true
}
