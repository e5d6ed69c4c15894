package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Room tells whether that many bytes could be written beside scratch and files
// be linked from there into the directories, as WriteNew does. It leaves no
// file and no directory behind.
func Room(scratch string, bytes int, dirs ...string) (err error) {
	var made []string
	defer func() {
		for _, d := range slices.Backward(made) {
			_ = os.Remove(d) // fails where another process uses it by now
		}
	}()
	for _, dir := range append([]string{scratch}, dirs...) {
		var missing []string
		for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
			if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
				break
			}
			missing = append(missing, d)
		}
		slices.Reverse(missing)
		for _, d := range missing {
			if err := os.Mkdir(d, 0o755); err != nil {
				return Unwritable(dir, err)
			}
			made = append(made, d)
		}
	}
	tmp, err := stage(scratch, filepath.Join(scratch, "room"), make([]byte, bytes))
	if err != nil {
		return Unwritable(scratch, err)
	}
	defer os.Remove(tmp)
	for _, dir := range dirs {
		if err := linkable(tmp, dir); err != nil {
			return Unwritable(dir, err)
		}
	}
	return nil
}

// linkable tells whether a file could be linked into a directory, by its
// permissions. A link made as a test would stay behind if the process were killed before
// removing it.
func linkable(file, dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &os.PathError{Op: "access", Path: dir, Err: err}
	}
	var a, b unix.Stat_t
	if err := errors.Join(unix.Stat(file, &a), unix.Stat(dir, &b)); err != nil {
		return err
	}
	if a.Dev != b.Dev {
		return &os.LinkError{Op: "link", Old: file, New: dir, Err: unix.EXDEV}
	}
	return nil
}

// Unwritable says in one line that nothing can be written into a directory,
// why, and what to do about it.
func Unwritable(dir string, err error) error {
	way := "make it writable, or work in a clone of your own"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		way = "make room there"
	case errors.Is(err, syscall.EXDEV):
		way = "keep data/ and .tools/ on one file system"
	}
	var why syscall.Errno
	if errors.As(err, &why) {
		err = why // the names of the temporary files mean nothing to the reader
	}
	return fmt.Errorf("%s: a run could not be written there (%w); %s", dir, err, way)
}
