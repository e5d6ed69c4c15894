package results

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Read reads a results file of a known version and refuses anything else. Errors name the line for syntax and
// duplicate keys, and the place for what is missing.
func Read(path string) (*File, error) { return read[File](path) }

// ReadHost reads a host profile by the same rules.
func ReadHost(path string) (*host.Profile, error) { return read[host.Profile](path) }

// mostBytes limits the size of files, in bytes: a results file of 180 trials takes 8 MB where each trial records
// 256 cores.
const mostBytes = 8 << 20

func read[T any](path string) (*T, error) {
	data, err := strict.ReadUpTo(path, mostBytes)
	into := new(T)
	if err == nil {
		err = Decode(data, into)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return into, nil
}

// Decode decodes a results file or a host profile, and refuses one that is incomplete.
func Decode(data []byte, into any) error {
	err := strict.DecodeJSON(data, into)
	is, known := 0, Version
	switch v := into.(type) {
	case *File:
		is = v.SchemaVersion
	case *host.Profile:
		is, known = v.SchemaVersion, host.Version
	}
	// The version comes first, because any other complaint about a file of an unknown version would mislead.
	if is != known && (err == nil || is != 0) {
		return fmt.Errorf("/schema_version: version %v is not known to this lab, which reads version %d; use the lab that "+
			"wrote the file", is, known)
	}
	if err != nil {
		return err
	}
	switch v := into.(type) {
	case *File:
		p := v.Provenance
		switch {
		case p == nil || p.Block == nil || !(p.Block.SlotS > 0) || p.Block.Rounds < 1 || p.Block.Rounds > 100:
			return errors.New("/provenance/block: missing, or with a number of slots that no design has")
		case p.Locks == nil:
			return errors.New("/provenance/locks: missing")
		}
		return v.spread()
	case *host.Profile:
		switch {
		case !id.MatchString(v.ID):
			return fmt.Errorf("/id: %q is no name of a file", v.ID)
		case v.Name == "":
			return errors.New("/name: missing")
		}
	}
	return nil
}

var id = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) // what names a host's files

// Replace writes a file, which may exist already. The name never shows an incomplete file, nor is one left beside
// it: the text is written in scratch, which lies outside data/ on the same file system, and then moved.
func Replace(scratch, path string, data []byte) error {
	staged := filepath.Join(scratch, filepath.Base(path))
	err := cmp.Or(os.MkdirAll(scratch, 0o755), os.MkdirAll(filepath.Dir(path), 0o755), strict.Replace(staged, data))
	if err == nil {
		err = os.Rename(staged, path)
	}
	if err != nil {
		os.Remove(staged)
		return err
	}
	return nil
}

// Room tells whether a run could be kept: whether a file written in scratch can be moved into a directory. It leaves
// none.
func Room(scratch, dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Unwritable(dir, err)
	}
	tried := filepath.Join(dir, ".room")
	err := Replace(scratch, tried, nil)
	os.Remove(tried)
	os.Remove(scratch) // fails where it holds more
	if err != nil {
		return Unwritable(dir, err)
	}
	return nil
}

// Unwritable says in one line that nothing can be written into a directory, why, and what to do about it.
func Unwritable(dir string, err error) error {
	way := "make it writable, or work in a clone of your own"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		way = "make room there"
	case errors.Is(err, syscall.EXDEV):
		way = "keep data/ and .tools/ on one file system"
	}
	if why, ok := errors.AsType[syscall.Errno](err); ok {
		err = why // the names of the temporary files mean nothing to the reader
	}
	return fmt.Errorf("%s: a run could not be written there (%w); %s", dir, err, way)
}

// PackRaw makes the one archive of a run's raw profiles, which are by their names in the run,
// EXPERIMENT/RUN/cN-KIND.pb.gz. The same profiles give the same bytes.
func PackRaw(raw map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: path.Base(name)}) // stored, as compressed already
		if err == nil {
			_, err = w.Write(raw[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// ReadRaw reads a raw profile by its name in a run from the run's archive.
func ReadRaw(archive, name string) ([]byte, error) {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	f, err := z.Open(path.Base(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the archive has no %s", path.Base(name))
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
