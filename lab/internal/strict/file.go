package strict

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// MostWritten is the limit in bytes of a file that a person writes: an experiment or a text. The longest so far has
// 16 kB.
const MostWritten = 256 << 10

// ReadUpTo reads a file and refuses a larger one than the limit in bytes before reading it.
func ReadUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll reads what has at most so many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("more than %d bytes, which no such file has", most)
	}
	return data, err
}

// Replace writes a whole file to the disk in place of one that may be there: who reads it meanwhile sees the old or
// the new one.
func Replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
