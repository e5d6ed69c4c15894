package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// taken identifies a profile by its condition and kind.
type taken struct {
	condition string
	kind      profiles.Kind
}

// roundingError is the error that rounding may leave in a sum of shares.
const roundingError = 1e-6

// checkProfiles reports where profiles contradict their run.
func (f *file) checkProfiles() error {
	x := f.design
	// Number of valid trials with a profile, by condition and kind.
	have := map[taken]int{}
	for i, t := range f.Trials {
		kinds := map[profiles.Kind]bool{}
		for k, p := range t.Profiles {
			at := fmt.Sprintf("/trials/%d/profiles/%d", i, k)
			if x.Profile == nil {
				return fmt.Errorf("%s: %s profiles nothing in the design that the run was made with", at, x.Name)
			}
			if kinds[p.Kind] {
				return fmt.Errorf("%s/kind: %q stands twice in the trial", at, p.Kind)
			}
			kinds[p.Kind] = true
			if err := checkProfile(p, at); err != nil {
				return err
			}
			if t.Valid {
				have[taken{t.Condition, p.Kind}]++
			}
		}
	}
	for i, c := range f.Conditions {
		named := map[profiles.Kind]bool{}
		for k, p := range c.Profiles {
			at := fmt.Sprintf("/conditions/%d/profiles/%d", i, k)
			if x.Profile == nil {
				return fmt.Errorf("%s: %s profiles nothing in the design that the run was made with", at, x.Name)
			}
			if named[p.Kind] {
				return fmt.Errorf("%s/kind: %q stands twice in the condition", at, p.Kind)
			}
			named[p.Kind] = true
			want := path.Join(f.Experiment, f.Run, c.ID+"-"+string(p.Kind)+".pb.gz")
			if p.File != want || strings.Count(want, "/") != 2 {
				return fmt.Errorf("%s/file: %q, but it lies in %s/%s and is named %s-%s.pb.gz", at, p.File, f.Experiment, f.Run,
					c.ID, p.Kind)
			}
			if n := have[taken{c.ID, p.Kind}]; p.Trials != n {
				return fmt.Errorf("%s/trials: %d, but %d valid trials of %q have a %s profile", at, p.Trials, n, c.ID, p.Kind)
			}
		}
		for _, kind := range profiles.Kinds() {
			if n := have[taken{c.ID, kind}]; n > 0 && !named[kind] {
				return fmt.Errorf("/conditions/%d/profiles: no %s profile, though %d valid trials have one", i, kind, n)
			}
		}
	}
	return nil
}

// checkProfile reports where a profile contradicts itself.
func checkProfile(p profiles.Profile, at string) error {
	for name, v := range map[string]float64{"total": p.Total, "events": p.Events, "duration_s": p.DurationS} {
		if v < 0 {
			return fmt.Errorf("%s/%s: %v is not a figure", at, name, v)
		}
	}
	ofMoment := p.Kind.OfMoment()
	if ofMoment && p.DurationS != 0 {
		return fmt.Errorf("%s/duration_s: a %s profile is of one moment", at, p.Kind)
	}
	var sum float64
	for name, share := range p.Work {
		if !slices.Contains(profiles.WorkNames(), name) {
			return fmt.Errorf("%s/work/%s: no such kind of work", at, name)
		}
		if !isShare(share) {
			return fmt.Errorf("%s/work/%s: %v is not a share", at, name, share)
		}
		sum += share
	}
	for name, share := range p.Packages {
		if !isShare(share) {
			return fmt.Errorf("%s/packages/%s: %v is not a share", at, name, share)
		}
	}
	switch {
	case sum > 1+roundingError:
		return fmt.Errorf("%s/work: the shares sum to %v; a sample has one kind of work", at, sum)
	case !ofMoment && p.DurationS == 0:
		return fmt.Errorf("%s/duration_s: missing; a %s profile is of a window", at, p.Kind)
	case p.Total == 0 && (len(p.Work) > 0 || len(p.Packages) > 0):
		return fmt.Errorf("%s/total: 0, but there are shares of it", at)
	case p.Total > 0 && sum < 1-roundingError:
		return fmt.Errorf("%s/work: the shares sum to %v; a sample has one kind of work", at, sum)
	// With an empty list any symbol could be claimed absent.
	case p.Total > 0 && len(p.Packages) == 0:
		return fmt.Errorf("%s/packages: empty, though there are samples", at)
	}
	return nil
}

func isShare(v float64) bool { return v >= 0 && v <= 1+roundingError }
