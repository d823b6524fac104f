//go:build !linux

package sqlite

import "testing"

func smallDisk(*testing.T, int) (dir string, ok bool) { return "", false }
