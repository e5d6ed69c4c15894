package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// clocksDiffer is how far the clock of the machine that made a commit may be ahead of the one that made a run.
const clocksDiffer = time.Hour

// A Proof says how far git's history shows that experiments were written down before they were run.
type Proof struct {
	Unchecked string  // the reason for not checking; empty if checked
	Open      []Fault // the runs that say themselves that no commit has what they were made with
}

// Prove looks up, for each measured run, the commit that it names. That commit must be in HEAD's history and not
// younger than the run. It must have the experiment's file with the digest that the run recorded. A commit's name
// is a digest of all that it holds, so the file is older than the results.
//
// A run that says that files differed from its commit proves nothing, and is listed as open. Faults are runs that
// claim more than git shows.
func (j *Journal) Prove() (p Proof, faults []Fault, err error) {
	if p.Unchecked = j.historyLacks(); p.Unchecked != "" {
		return p, nil, nil
	}
	log, err := host.Git(string(j.Root), "log", "--format=%H %ct", "HEAD")
	if err != nil {
		return p, nil, fmt.Errorf("git log: %w", err)
	}
	commits := map[string]time.Time{} // the time of making
	for line := range strings.Lines(log) {
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, _ := strconv.ParseInt(at, 10, 64)
		commits[name] = time.Unix(seconds, 0).UTC()
	}
	for _, f := range j.Runs {
		at, v := j.Root.Rel(j.Root.Result(f.Experiment, f.Run)), f.Provenance
		if v.Commit == host.UnknownCommit || v.Dirty {
			p.Open = append(p.Open, Fault{at, errors.New("made with files of the lab that no commit has")})
			continue
		}
		made, known := commits[v.Commit]
		design := ""
		if known { // what is no name of a commit would be an option of git's
			if text, err := host.Git(string(j.Root), "show", v.Commit+":lab/experiments/"+f.Experiment+".toml"); err == nil {
				design = fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
			}
		}
		if err := shows(f, made, design); err != nil {
			faults = append(faults, Fault{at, err})
		}
	}
	return p, faults, nil
}

// historyLacks says why git cannot tell anything about the journal here, and is empty if it can: a tarball has no
// history, and a shallow or a partial clone has too little.
func (j *Journal) historyLacks() string {
	about, err := host.Git(string(j.Root), "rev-parse", "--show-prefix", "--is-shallow-repository", "HEAD")
	prefix, about, _ := strings.Cut(about, "\n")
	if err != nil || prefix != "" { // a journal inside another project's checkout has no history of its own
		return "no git history here"
	}
	partial, _ := host.Git(string(j.Root), "config", "--get-regexp", `^remote\..*\.promisor$`)
	if partial != "" || strings.HasPrefix(about, "true") {
		return "no full git history here; git fetch --unshallow, or clone without --filter"
	}
	return ""
}

// shows compares a run with the commit that it names: when that was made, and the digest of the experiment's file
// in it.
func shows(f *results.File, made time.Time, design string) error {
	v := f.Provenance
	const written = "commit an experiment before it is run, and never edit what a run recorded"
	switch {
	case made.IsZero():
		return fmt.Errorf("/provenance/commit: %.12s is not in the history of this checkout; git merge it, since a rebase "+
			"or a squash loses it, or leave the run out", v.Commit)
	case made.After(v.StartedAt.Add(clocksDiffer)):
		return fmt.Errorf("/provenance/started_at: %s is before %s, when its commit %.12s was made; %s",
			v.StartedAt.UTC().Format(time.RFC3339), made.Format(time.RFC3339), v.Commit, written)
	case design == "":
		return fmt.Errorf("/provenance/experiment_sha256: commit %.12s has no lab/experiments/%s.toml; %s", v.Commit,
			f.Experiment, written)
	case design != v.ExperimentSHA256:
		return fmt.Errorf("/provenance/experiment_sha256: %.12s, but lab/experiments/%s.toml at commit %.12s has %.12s; %s",
			v.ExperimentSHA256, f.Experiment, v.Commit, design, written)
	}
	return nil
}
