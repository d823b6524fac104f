package sqlite

import (
	"errors"
	"io/fs"
	"os"

	"github.com/duly-dev/duly"
)

// openedFile is the file that was opened. One that is removed, or that another is
// put in place of, lives on for those who have it open: they would go on
// writing what nobody finds again, while the next process makes or opens
// another file and does the same work.
type openedFile struct {
	path   string
	opened fs.FileInfo // nil before it was noted
}

// note remembers the file that is there now.
func (f *openedFile) note(path string) error {
	info, err := os.Stat(path)
	if err == nil {
		f.path, f.opened = path, info
	}
	return err
}

// check answers an error once the file is another one or none. It costs a
// microsecond.
func (f *openedFile) check() error {
	if f.opened == nil {
		return nil
	}
	info, err := os.Stat(f.path)
	if err == nil && os.SameFile(info, f.opened) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	what := "replaced"
	if err != nil {
		what = "removed"
	}
	return duly.Errorf(duly.CodeUnavailable, "%s was %s while it was open: nothing is written to it any more; put the right file there and restart Duly", f.path, what)
}
