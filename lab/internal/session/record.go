package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A record is the runs on which the claims of one experiment are decided here.
type record struct {
	x     *experiment.Experiment
	h     *host.Profile
	asked *verdict.Question
	runs  []verdict.Run // oldest first
}

// record gathers the runs of this host that would count together with one that is made now, as far as
// the caller counts them, and notes in s.begins where that one begins a new record.
func (s *Session) record(x *experiment.Experiment, counts func(*results.File) bool) *record {
	rec := &record{x: x, h: s.profile, asked: s.j.Question(x)}
	for _, f := range s.j.Runs { // which are in the order of their names, and so of their starts
		if f.Experiment == x.Name && f.Hosts.Server == s.profile.ID && counts(f) {
			rec.add(f, s.j.Then(x, f))
		}
	}
	if len(rec.runs) == 0 {
		return rec
	}
	newest := rec.runs[len(rec.runs)-1].File
	here := s.here
	here.Servers = results.SharedServers(x)
	for name := range newest.Programs() {
		if _, seen := here.Binaries[name]; !seen {
			if is, err := host.Find(string(s.j.Root), name); err == nil { // else the run will say it
				here.Binaries[name] = is
			}
		}
	}
	now := &results.File{Provenance: &here}
	marked := s.profile.Mark != ""
	rec.runs = slices.DeleteFunc(rec.runs, func(r verdict.Run) bool { return !r.File.CountsWith(now, marked) })
	if len(rec.runs) > 0 {
		return rec
	}
	why := "the machine or its servers are not what they were"
	if others := newest.OtherPrograms(here.Binaries); len(others) > 0 {
		why = "made of something else now: " + strings.Join(others, ", ")
	}
	s.begins = append(s.begins, fmt.Sprintf("%s (%s)", x.Name, why))
	return rec
}

// add adds a run that began after the others.
func (r *record) add(f *results.File, then *experiment.Experiment) {
	r.runs = append(r.runs, verdict.Run{File: f, Then: then})
}

// with gives the verdicts as they would be with one more run, made of today's design.
func (r *record) with(f *results.File) *verdict.File {
	return r.asked.Decide(r.x, r.h, append(slices.Clone(r.runs), verdict.Run{File: f, Then: r.x}))
}

// verdicts gives the verdicts, or nil if the newest run was not made with all of today's
// claims.
func (r *record) verdicts() *verdict.File {
	if len(r.runs) == 0 {
		return nil
	}
	newest := r.runs[len(r.runs)-1]
	for _, c := range r.x.Claims {
		if was, ok := newest.Then.Claim(c.ID); !ok || !r.x.Holds(newest.Then, was) {
			return nil
		}
	}
	return r.asked.Decide(r.x, r.h, r.runs)
}

// madeHere reports which runs this clone made: those that git does not track. A committed run may come
// from another machine, if that was given the same name. If git cannot tell, no run counts: a lab inside
// another project's checkout has no checkout of its own.
func madeHere(root journal.Root) func(*results.File) bool {
	_, err := os.Stat(filepath.Join(string(root), ".git"))
	var out []byte
	if err == nil {
		out, err = host.Git(context.Background(), string(root), "ls-files", "-z", "--", "data/results").Output()
	}
	tracked := strict.Set(strings.Split(string(out), "\x00"), func(path string) string {
		return filepath.Join(string(root), filepath.FromSlash(path))
	})
	return func(f *results.File) bool { return err == nil && !tracked[root.Result(f.Experiment, f.Run)] }
}
