package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// rawExt is the extension of a profile in pprof's format.
const rawExt = ".pb.gz"

// Limits for the size of a raw profile, in bytes: a hundred times what a dozen
// trials on two cores take.
const (
	mostPacked   = 4 << 20
	mostUnpacked = 64 << 20
)

// unpacked is the unpacked size of a profile in bytes, up to the limit. A file
// that is not packed is left for the parser to refuse.
func unpacked(data []byte) int64 {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	n, _ := io.Copy(io.Discard, io.LimitReader(z, mostUnpacked+1))
	return n
}

// rawProfiles reads the raw profiles that a run names and compares each with
// the run. A fault is reported for the run.
func (j *Journal) rawProfiles(f *results.File) error {
	for i, c := range f.Conditions {
		for k, named := range c.Profiles {
			at := fmt.Sprintf("/conditions/%d/profiles/%d", i, k)
			raw, err := j.rawProfile(named)
			if err == nil {
				err = agrees(f, c, named, raw)
			}
			if err != nil {
				return fmt.Errorf("%s: %s: %w", at, filepath.ToSlash(j.Root.Rel(j.Root.Profile(named.File))), err)
			}
			j.raw[named.File] = raw
		}
	}
	return nil
}

func (j *Journal) rawProfile(named results.RawProfile) ([]byte, error) {
	data, err := strict.ReadUpTo(j.Root.Profile(named.File), mostPacked)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("missing")
	}
	if err != nil {
		return nil, err
	}
	if n := unpacked(data); n > mostUnpacked {
		return nil, fmt.Errorf("unpacks to more than %d bytes, which no such profile does", mostUnpacked)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != named.SHA256 {
		return nil, fmt.Errorf("its SHA-256 is %s, not %s as the run has it", got, named.SHA256)
	}
	return data, nil
}

// RawSize is the size of a raw profile in bytes, by its path from data/profiles.
func (j *Journal) RawSize(file string) int { return len(j.raw[file]) }

// Raw gives a raw profile named by a run.
func (j *Journal) Raw(named results.RawProfile) (*profile.Profile, error) {
	return profile.ParseData(j.raw[named.File])
}

// agrees checks that a raw profile equals the sum of the condition's trials as
// recorded in the run.
func agrees(f *results.File, c results.Condition, named results.RawProfile, raw []byte) error {
	parsed, err := profile.ParseData(raw)
	if err != nil {
		return err
	}
	a, err := profiles.Analyse(named.Kind, parsed)
	if err != nil {
		return err
	}
	var total, duration float64
	parts := map[string]float64{} // of the total, by "work" or "packages" and name
	for _, t := range f.Trials {
		p, there := t.Profile(named.Kind)
		if !there || !t.Valid || t.Condition != c.ID {
			continue
		}
		total, duration = total+p.Total, duration+p.DurationS
		for name, share := range shares(p) {
			parts[name] += share * p.Total
		}
	}
	// A small difference is allowed for rounding.
	off := func(got, want float64) bool { return math.Abs(got-want) > 1e-6*math.Max(got, want) }
	switch {
	case off(a.Total, total):
		return fmt.Errorf("it holds %v %s, but its trials %v", a.Total, a.Unit, total)
	case off(a.DurationS, duration):
		return fmt.Errorf("its window is %v s, but its trials' are %v s together", a.DurationS, duration)
	}
	whole := shares(a)
	names := maps.Clone(parts)
	maps.Copy(names, whole)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if got := parts[name] / total; math.Abs(got-whole[name]) > 1e-6 {
			return fmt.Errorf("%s has a share of %.6f in it, but of %.6f in its trials", name, whole[name], got)
		}
	}
	return nil
}

// shares gives the shares of a profile by "work" or "packages" and the name.
func shares(p profiles.Profile) map[string]float64 {
	all := map[string]float64{}
	for kind, of := range map[string]map[string]float64{"work": p.Work, "packages": p.Packages} {
		for name, share := range of {
			all[kind+"/"+name] = share
		}
	}
	return all
}

// strays reports the files of a directory of data that nothing names. Those of a pending run
// are skipped, since that run may name them.
func (j *Journal) strays(dir, ext, says string, named func(path string) bool) (faults []Fault, err error) {
	all, err := j.Root.Files(dir, ext)
	if err != nil {
		return nil, err
	}
	arriving, err := j.Root.Arriving()
	for _, p := range all {
		if !arriving[p] && !named(p) {
			faults = append(faults, faultOf(j.Root, p, errors.New(says)))
		}
	}
	return faults, err
}
