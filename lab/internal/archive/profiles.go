package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// rawProfiles checks that the raw profiles that a run names are there, as they were. A
// fault is reported for the run.
func (j *Journal) rawProfiles(f *results.File) error {
	for i, c := range f.Conditions {
		for k, named := range c.Profiles {
			at := fmt.Sprintf("/conditions/%d/profiles/%d", i, k)
			if _, err := j.rawProfile(named); err != nil {
				return fmt.Errorf("%s: %s: %w", at, filepath.ToSlash(j.Root.Rel(j.Root.Packed(named.File))), err)
			}
		}
	}
	return nil
}

func (j *Journal) rawProfile(named results.RawProfile) ([]byte, error) {
	data, err := results.ReadRaw(j.Root.Packed(named.File), named.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("missing")
	}
	if err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != named.SHA256 {
		return nil, fmt.Errorf("its SHA-256 is %s, not %s as the run has it", got, named.SHA256)
	}
	return data, nil
}

// Raw gives a raw profile named by a run.
func (j *Journal) Raw(named results.RawProfile) (*profile.Profile, error) {
	raw, err := j.rawProfile(named)
	if err != nil {
		return nil, err
	}
	return profile.ParseData(raw)
}
