package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A record is the runs on which the claims of one experiment are decided here.
type record struct {
	x     *experiment.Experiment
	h     *host.Profile
	asked *verdict.Question
	runs  []verdict.Run // oldest first
}

// recordOf gathers a host's measured runs of an experiment, as far as they count.
func recordOf(j *archive.Journal, x *experiment.Experiment, h *host.Profile, counts func(*results.File) bool) *record {
	own := j.Machine(h.ID)
	return recordOn(j, x, h, results.Hosts{Server: own, Client: own}, counts)
}

// recordOn gathers those of a server's host with its clients.
func recordOn(j *archive.Journal, x *experiment.Experiment, h *host.Profile, here results.Hosts, counts func(*results.File) bool) *record {
	rec := &record{x: x, h: h, asked: j.Question(x)}
	for _, f := range j.Runs {
		if f.Experiment == x.Name && f.Source == results.Measured && j.On(f).Same(here) && counts(f) {
			rec.add(f, j.Then(x, f))
		}
	}
	return rec
}

func (r *record) add(f *results.File, then *experiment.Experiment) {
	r.runs = append(r.runs, verdict.Run{File: f, Then: then})
	slices.SortStableFunc(r.runs, func(a, b verdict.Run) int {
		return a.File.Provenance.StartedAt.Compare(b.File.Provenance.StartedAt)
	})
}

// with gives the verdicts as they would be with one more run, made of today's design.
func (r *record) with(f *results.File) *verdict.File {
	return r.asked.Decide(r.x, r.h, append(slices.Clone(r.runs), verdict.Run{File: f, Then: r.x}))
}

// said gives the verdicts, or nil if the newest run was not made with all of today's
// claims.
func (r *record) said() *verdict.File {
	if len(r.runs) == 0 {
		return nil
	}
	newest := r.runs[len(r.runs)-1]
	for _, c := range r.x.Claims {
		if was, ok := newest.Then.Claim(c.ID); !ok || !r.x.Holds(newest.Then, was) {
			return nil
		}
	}
	if newest.File.EarlierDesign() {
		return nil
	}
	return r.asked.Decide(r.x, r.h, r.runs)
}

// tracked returns the results that git tracks in this clone, or false if there is no git
// or no checkout.
func tracked(root journal.Root) (map[string]bool, bool) {
	// A lab inside another project's checkout has no checkout of its own.
	if _, err := os.Stat(filepath.Join(string(root), ".git")); err != nil {
		return nil, false
	}
	cmd := exec.Command("git", "-C", string(root), "ls-files", "-z", "--", "data/results")
	// Variables such as GIT_DIR would make git look at another checkout.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	known := map[string]bool{}
	for _, path := range strings.Split(string(out), "\x00") {
		if path != "" {
			known[filepath.Join(string(root), filepath.FromSlash(path))] = true
		}
	}
	return known, true
}

// madeHere tells which runs this clone made: those that git does not track. A committed
// run may come from another machine, if that was given the same name. If git cannot tell,
// no run counts.
func madeHere(root journal.Root) func(*results.File) bool {
	known, ok := tracked(root)
	return func(f *results.File) bool { return ok && !known[root.Result(f.Experiment, f.Run)] }
}
