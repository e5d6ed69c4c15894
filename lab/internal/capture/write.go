package capture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// Vacant checks, before a window is spent, that Write can write to a directory:
// it is empty or does not exist, and its parent is writable. It returns the
// directory's path without symbolic links.
func Vacant(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return "", fmt.Errorf("%s is not a directory; give one that does not exist", dir)
	case err == nil && len(entries) > 0:
		return "", fmt.Errorf("%s is not empty; give a directory that is, or that does not exist", dir)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return "", err
	}
	probe, err := os.MkdirTemp(filepath.Dir(path), ".profiles-")
	if err != nil {
		return "", fmt.Errorf("%s cannot be made: %w", dir, err)
	}
	return path, os.Remove(probe)
}

// Write writes a set's profiles to a directory, as <kind>.pb.gz readable by
// their owner only. They are written to a temporary directory that then
// replaces it, so that the directory has all of them or is unchanged.
func Write(dir string, set *Set) (err error) {
	path, err := Vacant(dir)
	if err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(path), ".profiles-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft) // has no effect after the rename
	for _, k := range profiles.Kinds() {
		if err := writeOne(filepath.Join(draft, string(k)+".pb.gz"), set, k); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
	}
	// The system call replaces an empty directory and nothing else; Go's os.Rename
	// replaces no directory.
	if err := syscall.Rename(draft, path); err != nil {
		return fmt.Errorf("%s cannot be put in place: %w", dir, err)
	}
	return nil
}

func writeOne(path string, set *Set, k profiles.Kind) error {
	if err := set.Merged[k].CheckValid(); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(set.Merged[k].Write(f), f.Sync(), f.Close())
}
