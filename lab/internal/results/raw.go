package results

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// mostRaw is the largest size of a raw profile, in bytes: a hundred times what a dozen trials on
// two cores take.
const mostRaw = 4 << 20

// PackRaw makes the one archive of a run's raw profiles, which are by their names in the run,
// EXPERIMENT/RUN/cN-KIND.pb.gz. The same profiles give the same bytes.
func PackRaw(raw map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		w, err := z.CreateHeader(&zip.FileHeader{Name: path.Base(name)}) // stored: it is compressed
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
	data, err := io.ReadAll(io.LimitReader(f, mostRaw+1))
	if err == nil && len(data) > mostRaw {
		err = fmt.Errorf("%s has more than %d bytes", path.Base(name), mostRaw)
	}
	return data, err
}
