package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// design reads the design that a measured run names, and checks its digest.
func (j *Journal) design(f *results.File) (*experiment.Experiment, error) {
	sum := f.Provenance.ExperimentSHA256
	at := "/provenance/experiment_sha256: " + filepath.ToSlash(j.Root.Rel(j.Root.Design(sum)))
	key := f.Experiment + " " + sum
	x := j.designs[key]
	if x == nil {
		var err error
		if x, err = j.readDesign(f.Experiment, sum); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		j.designs[key] = x
	}
	return x, nil
}

func (j *Journal) readDesign(id, sum string) (*experiment.Experiment, error) {
	text, err := strict.ReadUpTo(j.Root.Design(sum), strict.MostWritten)
	if errors.Is(err, os.ErrNotExist) {
		return nil, errors.New("missing; add the experiment's file as it was when the run was made")
	}
	if err != nil {
		return nil, err
	}
	if is := fmt.Sprintf("%x", sha256.Sum256(text)); is != sum {
		return nil, fmt.Errorf("its SHA-256 is %s; a design is kept as it was, and never edited", is)
	}
	return experiment.Parse(id, text)
}

// Then is the design that a run was made with.
func (j *Journal) Then(x *experiment.Experiment, f *results.File) *experiment.Experiment {
	if then, err := j.design(f); err == nil {
		return then
	}
	return x
}

// moved reports, by experiment file, claims that differ from those their runs
// were made with and are not withdrawn.
func (j *Journal) moved() []Fault {
	var faults []Fault
	for _, x := range j.Experiments {
		made := 0               // measured runs
		was := map[string]int{} // number of runs with a claim that the experiment no longer has unchanged, by claim
		var order []string
		for _, f := range j.Runs {
			if f.Experiment != x.Name {
				continue
			}
			made++
			then := j.Then(x, f)
			for _, c := range then.Claims {
				if x.Holds(then, c) {
					continue
				}
				if was[c.ID]++; was[c.ID] == 1 {
					order = append(order, c.ID)
				}
			}
		}
		fault := func(format string, args ...any) {
			path := filepath.Join(j.Root.Experiments(), x.Name+".toml")
			faults = append(faults, Fault{j.Root.Rel(path), fmt.Errorf(format, args...)})
		}
		if x.Planned != "" && made > 0 {
			fault("planned: %s measured it, so the lab can; take planned away, since no command runs such a design",
				words.Count(made, "run"))
		}
		for _, id := range order {
			_, stands := x.Claim(id)
			withdrawn := slices.ContainsFunc(x.Withdrawn, func(w experiment.Withdrawal) bool { return w.ID == id })
			switch {
			case stands:
				fault("claim %q was changed after %s had been made with it; give the changed claim a new id, and name %q under "+
					"[[withdrawn]] with the reason", id, words.Count(was[id], "run"), id)
			case !withdrawn:
				fault("claim %q is gone, but %s decided it; name it under [[withdrawn]] with the reason", id,
					words.Count(was[id], "run"))
			}
		}
	}
	return faults
}
