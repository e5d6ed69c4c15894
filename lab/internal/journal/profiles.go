package journal

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/flame"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/symbol"
)

// foldBelow is the share of a profile below which a frame is folded: at the
// width of a page it would be three pixels wide.
const foldBelow = 0.005

// rawExt ends the name of a profile in pprof's own format.
const rawExt = ".pb.gz"

// What a raw profile may have at the most, in bytes: a hundred times what those
// of a dozen trials on two cores come to.
const (
	mostPacked   = 4 << 20
	mostUnpacked = 64 << 20
)

// unpacked is how many bytes a profile unpacks to, as far as it may; what is no
// packed file is left for the parser to refuse.
func unpacked(data []byte) int64 {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return 0
	}
	n, _ := io.Copy(io.Discard, io.LimitReader(z, mostUnpacked+1))
	return n
}

// A rawFile is a profile in data/profiles as it was read. Its bytes are kept, a
// few kilobytes; what they parse to is hundreds, and made where it is needed.
type rawFile struct {
	kind profiles.Kind
	data []byte
}

func (f rawFile) parse() (*profile.Profile, profiles.Profile, error) {
	p, err := profile.ParseData(f.data)
	if err != nil {
		return nil, profiles.Profile{}, err
	}
	a, err := profiles.Analyse(f.kind, p)
	return p, a, err
}

// rawProfiles reads the raw profiles that a run names and checks each against
// what the run says of it. The files are the run's, so the run is at fault.
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

func (j *Journal) rawProfile(named results.RawProfile) (rawFile, error) {
	data, err := results.ReadUpTo(j.Root.Profile(named.File), mostPacked)
	if errors.Is(err, os.ErrNotExist) {
		return rawFile{}, errors.New("missing")
	}
	if err != nil {
		return rawFile{}, err
	}
	if n := unpacked(data); n > mostUnpacked {
		return rawFile{}, fmt.Errorf("unpacks to more than %d bytes, which no such profile does", mostUnpacked)
	}
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != named.SHA256 {
		return rawFile{}, fmt.Errorf("its SHA-256 is %s, not %s as the run has it", got, named.SHA256)
	}
	return rawFile{named.Kind, data}, nil
}

// agrees checks that a raw profile is what the condition's trials were said to
// come to: it is all of them added up.
func agrees(f *results.File, c results.Condition, named results.RawProfile, raw rawFile) error {
	_, a, err := raw.parse()
	if err != nil {
		return err
	}
	if f.Source != results.Measured {
		return nil
	}
	var total, duration float64
	for _, t := range f.Trials {
		if p, there := t.Profile(named.Kind); there && t.Valid && t.Condition == c.ID {
			total += p.Total
			duration += p.DurationS
		}
	}
	// A hair for what was rounded.
	off := func(got, want float64) bool { return math.Abs(got-want) > 1e-6*math.Max(got, want) }
	switch {
	case off(a.Total, total):
		return fmt.Errorf("it holds %v %s, but its trials %v", a.Total, a.Unit, total)
	case off(a.DurationS, duration):
		return fmt.Errorf("its window is %v s, but its trials' are %v s together", a.DurationS, duration)
	}
	return nil
}

// strays names the raw profiles that no run has. Those of a run that could not
// be read are passed over: it may well have them. So are those of a pending run.
func (j *Journal) strays(unread map[string]bool) ([]string, error) {
	all, err := files(j.Root.path("data", "profiles"), rawExt)
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, f := range j.Runs {
		for _, c := range f.Conditions {
			for _, p := range c.Profiles {
				named[j.Root.Profile(p.File)] = true
			}
		}
	}
	arriving, err := j.Root.arriving()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p string) bool { return named[p] || arriving[p] || unread[filepath.Dir(p)] }), nil
}

// flames makes what pages draw of a run's profiles: a tree for each, and where
// the experiment compares, one of the difference.
func (j *Journal) flames(x *experiment.Experiment, f *results.File, add func(path string, data []byte)) error {
	for _, c := range f.Conditions {
		for _, named := range c.Profiles {
			p, a, err := j.raw[named.File].parse()
			if err != nil {
				return err
			}
			t, err := treeOf(x, c, named, p, a)
			if err != nil {
				return fmt.Errorf("%s: %w", named.File, err)
			}
			data, err := encodeTree(t)
			if err != nil {
				return fmt.Errorf("%s: %w", named.File, err)
			}
			add(j.Root.Flame(f.Experiment, f.Run, c.ID+"-"+string(named.Kind)), data)
		}
	}
	for _, pair := range pairs(x, f) {
		for _, before := range pair[0].Profiles {
			at := slices.IndexFunc(pair[1].Profiles, func(p results.RawProfile) bool { return p.Kind == before.Kind })
			if at < 0 {
				continue
			}
			name := pair[0].ID + "-" + pair[1].ID + "-" + string(before.Kind)
			t, err := j.diffOf(x, pair, before, pair[1].Profiles[at])
			if err != nil {
				return fmt.Errorf("%s/%s/%s: %w", f.Experiment, f.Run, name, err)
			}
			data, err := encodeTree(t)
			if err != nil {
				return fmt.Errorf("%s/%s/%s: %w", f.Experiment, f.Run, name, err)
			}
			add(j.Root.Flame(f.Experiment, f.Run, name), data)
		}
	}
	return nil
}

func treeOf(x *experiment.Experiment, c results.Condition, named results.RawProfile, p *profile.Profile, a profiles.Profile) (flame.Tree, error) {
	kind := named.Kind
	t, err := flame.Prune(p, kind.SampleType(), foldBelow)
	if err != nil {
		return flame.Tree{}, err
	}
	t.Name = fmt.Sprintf("%s: %s, %s", x.Title, kind.Words(), c.Levels.Key())
	t.Kind, t.Condition, t.Trials, t.Raw = string(named.Kind), c.ID, named.Trials, named.File
	t.DurationS = a.DurationS // none where the profile is of a moment
	t.Parked = profiles.Parked(a)
	for _, w := range symbol.Works() {
		if share, there := a.Work[string(w.Work)]; there {
			t.Work = append(t.Work, flame.WorkShare{Work: string(w.Work), Share: share})
		}
	}
	slices.SortStableFunc(t.Work, func(a, b flame.WorkShare) int { return cmp.Compare(b.Share, a.Share) })
	return t, nil
}

func (j *Journal) diffOf(x *experiment.Experiment, pair [2]results.Condition, before, after results.RawProfile) (flame.DiffTree, error) {
	kind := before.Kind
	var sides [2]flame.Side
	for i, named := range []results.RawProfile{before, after} {
		p, _, err := j.raw[named.File].parse()
		if err != nil {
			return flame.DiffTree{}, err
		}
		sides[i].Profile = p
		if kind.OfMoment() {
			sides[i].Moments = named.Trials
		}
	}
	t, err := flame.Diff(sides[0], sides[1], kind.SampleType(), foldBelow)
	if err != nil {
		return flame.DiffTree{}, err
	}
	t.Name = fmt.Sprintf("%s: %s, %s, then %s", x.Title, kind.Words(), pair[0].Levels.Key(), pair[1].Levels.Key())
	t.Kind, t.Before, t.After = string(before.Kind), pair[0].ID, pair[1].ID
	return t, nil
}

// pairs gives the conditions of a run that differ in nothing but the first and
// the last level of the factor that the experiment's profiles compare.
func pairs(x *experiment.Experiment, f *results.File) [][2]results.Condition {
	if x.Profile == nil || x.Profile.Compare == "" {
		return nil
	}
	factor := x.Profile.Compare
	all := x.Conditions() // of each factor the first level first, the last one last
	first, last := all[0][factor], all[len(all)-1][factor]
	var out [][2]results.Condition
	for _, b := range f.Conditions {
		for _, a := range f.Conditions {
			if b.ControlOf == "" && a.ControlOf == "" && !first.IsZero() && b.Levels[factor] == first && a.Levels[factor] == last &&
				b.Levels.Without(factor).Key() == a.Levels.Without(factor).Key() {
				out = append(out, [2]results.Condition{b, a})
			}
		}
	}
	return out
}

// encodeTree writes a tree with a line for each frame and row. Indented as
// other files are, most of a deep tree would be blanks; on one line, no change
// of it could be read.
func encodeTree(t any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(t); err != nil {
		return nil, err
	}
	// Inside a string these quotes would be escaped.
	return []byte(strings.ReplaceAll(b.String(), `{"n":`, "\n"+`{"n":`)), nil
}
