package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

const (
	// clocksDiffer is how far the clock of the machine that made a commit may be
	// ahead of the one that made a run.
	clocksDiffer = time.Hour
	// gitTime is how long one command of git may take.
	gitTime = 2 * time.Minute
)

// A Proof says how far git's history shows that experiments were written down
// before they were run.
type Proof struct {
	Unchecked string  // why nothing was checked; empty if it was
	Open      []Fault // the runs that say themselves that no commit has what they were made with
}

// Prove looks up, for each measured run, the commit that it names. That commit
// must be in HEAD's history and not younger than the run. It must have the
// experiment's file with the digest that the run recorded. A commit is named by a
// digest of all that it holds, so the file was committed before the results were.
//
// A run that says that files differed from its commit proves nothing, and is
// listed as open. Faults are runs that claim more than git shows.
//
// Open compares the claims of each kept design with those of today.
func (j *Journal) Prove() (p Proof, faults []Fault, err error) {
	if p.Unchecked = j.historyLacks(); p.Unchecked != "" {
		return p, nil, nil
	}
	h, err := j.history()
	if err != nil {
		return p, nil, err
	}
	for _, f := range j.Runs {
		at := j.Root.Rel(j.Root.Result(f.Experiment, f.Run))
		if open := h.open(f); open != "" {
			p.Open = append(p.Open, Fault{at, errors.New(open)})
		} else if err := h.shows(f); err != nil {
			faults = append(faults, Fault{at, err})
		}
	}
	return p, faults, nil
}

// git runs git in the checkout with an input, and returns what it prints.
func (j *Journal) git(input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	cmd := host.Git(ctx, string(j.Root), args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		first, _, _ := strings.Cut(strings.TrimSpace(string(ended.Stderr)), "\n")
		err = fmt.Errorf("git %s: %w: %s", args[0], err, first)
	}
	return string(out), err
}

// historyLacks says why git cannot tell anything about the journal here, and is empty if it can: a tarball has no history,
// and a shallow or a partial clone has too little.
func (j *Journal) historyLacks() string {
	about, err := j.git("", "rev-parse", "--show-prefix", "--is-shallow-repository", "HEAD")
	prefix, about, _ := strings.Cut(about, "\n")
	if err != nil || prefix != "" { // a journal inside another project's checkout has no history of its own
		return "no git history here"
	}
	partial, _ := j.git("", "config", "--get-regexp", `^remote\..*\.promisor$`)
	if partial != "" || strings.HasPrefix(about, "true") {
		return "no full git history here; git fetch --unshallow, or clone without --filter"
	}
	return ""
}

// A history is what the commits of HEAD's history had.
type history struct {
	commits map[string]time.Time // when they were made
	designs map[string]string    // SHA-256 of experiments' files, by commit:path, of the commits that runs name
}

func design(f *results.File) string {
	return f.Provenance.Commit + ":lab/experiments/" + f.Experiment + ".toml"
}

// history reads the history, as far as it is compared with the runs.
func (j *Journal) history() (h history, err error) {
	h = history{map[string]time.Time{}, map[string]string{}}
	log, err := j.git("", "log", "--format=%H %ct", "HEAD")
	if err != nil {
		return h, err
	}
	for line := range strings.Lines(log) {
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		s, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return h, fmt.Errorf("git log: %w", err)
		}
		h.commits[name] = time.Unix(s, 0).UTC()
	}
	known := strict.Filter(j.Runs, func(f *results.File) bool { _, ok := h.commits[f.Provenance.Commit]; return ok })
	names := slices.Compact(slices.Sorted(slices.Values(strict.Map(known, design))))
	text, err := j.git(strings.Join(names, "\n")+"\n", "cat-file", "--batch")
	for _, name := range names {
		// A line with the object's name, type and size, the object, and a line feed; or a line that it is missing.
		var head string
		head, text, _ = strings.Cut(text, "\n")
		if words := strings.Fields(head); len(words) == 3 {
			size, _ := strconv.Atoi(words[2])
			if size >= len(text) {
				return h, errors.Join(err, fmt.Errorf("git cat-file cuts %s short", name))
			}
			h.designs[name], text = fmt.Sprintf("%x", sha256.Sum256([]byte(text[:size]))), text[size+1:]
		}
	}
	return h, err
}

// open says why a run proves nothing by its own account; empty if it does not
// say so.
func (h history) open(f *results.File) string {
	v := f.Provenance
	switch {
	case v.Commit == host.UnknownCommit:
		return "made outside a git checkout, so no commit shows what it was made with"
	case v.Dirty && h.designs[design(f)] == v.ExperimentSHA256:
		return "its experiment was committed before, but other files of the lab differed from the commit"
	case v.Dirty:
		return "made with files of the lab that no commit has, its experiment among them"
	}
	return ""
}

// shows compares a run with the commit that it names.
func (h history) shows(f *results.File) error {
	v := f.Provenance
	const written = "commit an experiment before it is run, and never edit what a run recorded"
	_, path, _ := strings.Cut(design(f), ":")
	made, ok := h.commits[v.Commit]
	switch is := h.designs[design(f)]; {
	case !ok:
		return fmt.Errorf("/provenance/commit: %.12s is not in the history of this checkout; git merge it, since a rebase "+
			"or a squash loses it, or leave the run out", v.Commit)
	case made.After(v.StartedAt.Add(clocksDiffer)):
		return fmt.Errorf("/provenance/started_at: %s is before %s, when its commit %.12s was made; %s",
			v.StartedAt.UTC().Format(time.RFC3339), made.Format(time.RFC3339), v.Commit, written)
	case is == "":
		return fmt.Errorf("/provenance/experiment_sha256: commit %.12s has no %s; %s", v.Commit, path, written)
	case is != v.ExperimentSHA256:
		return fmt.Errorf("/provenance/experiment_sha256: %.12s, but %s at commit %.12s has %.12s; %s", v.ExperimentSHA256,
			path, v.Commit, is, written)
	}
	return nil
}
