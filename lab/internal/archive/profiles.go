package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// rawProfiles checks that the raw profiles that a run names are there, as they were. A
// fault is reported for the run.
func (j *Journal) rawProfiles(f *results.File) error {
	for i, c := range f.Conditions {
		for k, named := range c.Profiles {
			at := fmt.Sprintf("/conditions/%d/profiles/%d", i, k)
			if err := j.rawProfile(named); err != nil {
				return fmt.Errorf("%s: %s: %w", at, filepath.ToSlash(j.Root.Rel(j.Root.Packed(named.File))), err)
			}
		}
	}
	return nil
}

func (j *Journal) rawProfile(named results.RawProfile) error {
	data, err := results.ReadRaw(j.Root.Packed(named.File), named.File)
	if errors.Is(err, os.ErrNotExist) {
		return errors.New("missing")
	}
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != named.SHA256 {
		return fmt.Errorf("its SHA-256 is %s, not %s as the run has it", got, named.SHA256)
	}
	return nil
}
