package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
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
	rec := &record{x: x, h: s.profile, asked: s.j.Question(x), runs: s.j.Select(x, func(f *results.File) bool {
		return f.Hosts.Server == s.profile.ID && counts(f)
	})}
	if len(rec.runs) == 0 {
		return rec
	}
	newest, here := rec.runs[len(rec.runs)-1].File, s.here
	here.Servers = results.SharedServers(x)
	for name := range newest.Provenance.Binaries {
		if _, seen := here.Binaries[name]; !seen {
			if is, err := host.Find(string(s.j.Root), name); err == nil { // else the run will say it
				here.Binaries[name] = is
			}
		}
	}
	now := &results.File{Provenance: &here}
	rec.runs = strict.Filter(rec.runs, func(r verdict.Run) bool { return r.File.CountsWith(now) })
	if len(rec.runs) == 0 {
		why := "the machine or its servers are not what they were"
		if others := newest.OtherPrograms(here.Binaries); len(others) > 0 {
			why = "made of something else now: " + strings.Join(others, ", ")
		}
		s.begins = append(s.begins, fmt.Sprintf("%s (%s)", x.Name, why))
	}
	return rec
}

// with gives the verdicts as they would be with one more run, made of today's design.
func (r *record) with(f *results.File) *verdict.File {
	return r.asked.Decide(r.x, r.h, append(slices.Clone(r.runs), verdict.Run{File: f, Then: r.x}))
}

// verdicts gives the verdicts, or nil if there is no run, or the newest was not made with all of today's claims.
func (r *record) verdicts() *verdict.File {
	if len(r.runs) == 0 {
		return nil
	}
	newest := r.runs[len(r.runs)-1].Then
	for _, c := range r.x.Claims {
		if was, ok := newest.Claim(c.ID); !ok || !r.x.Holds(newest, was) {
			return nil
		}
	}
	return r.asked.Decide(r.x, r.h, r.runs)
}

// counted tells which runs of this machine count: all of the journal's; none, for a trial; or those that this clone
// made and git does not track, where an experiment is asked anew. If git cannot tell, none is.
func (s *Session) counted() func(*results.File) bool {
	if s.Scratch || !s.Anew {
		return func(*results.File) bool { return !s.Scratch }
	}
	root := s.j.Root
	_, err := os.Stat(root.Path(".git")) // a lab inside another project's checkout has no checkout of its own
	out := ""
	if err == nil {
		out, err = host.Git(string(root), "ls-files", "-z", "--", "data/results")
	}
	tracked := strict.Collect(strings.Split(out, "\x00"), func(path string) string { return root.Path(path) })
	return func(f *results.File) bool { return err == nil && !tracked[root.Result(f.Experiment, f.Run)] }
}

// destination is the place of runs: the journal, or a place of the same layout outside data/ for a
// trial.
func (s *Session) destination() journal.Root {
	if s.Scratch {
		return s.j.Root.Tried()
	}
	return s.j.Root
}

// save writes a run so far, with the machine's profile if that is new. So whatever ends the lab, the run
// has its complete blocks, as one that was interrupted.
func (s *Session) save(r *run.Run) error {
	f, into := r.File, s.destination()
	whole, about := *f, *f.Provenance
	whole.Provenance, about.Ended = &about, cmp.Or(about.Ended, results.Interrupted)
	text, err := results.Encode(&whole)
	if err = cmp.Or(err, results.Decode(text, new(results.File))); err != nil { // else no later call could read the journal
		return err
	}
	if _, err := os.Stat(into.Host(s.profile.ID)); errors.Is(err, fs.ErrNotExist) {
		machine, err := results.Encode(s.profile)
		if err = cmp.Or(err, s.write(into.Host(s.profile.ID), machine)); err != nil {
			return err
		}
	}
	return s.write(into.Result(f.Experiment, f.Run), text)
}

// write puts a file on the disk at once: otherwise the kernel would write it at some time during the next
// block.
func (s *Session) write(path string, data []byte) error {
	if err := results.Replace(s.j.Root.Staged(), path, data); err != nil {
		return results.Unwritable(filepath.Dir(path), err)
	}
	return nil
}

// tidy removes what a lab that was killed had half written, also profiles that no results file names yet, and checks
// whether a run could be kept.
func (s *Session) tidy() error {
	into := s.destination()
	err := cmp.Or(os.RemoveAll(s.j.Root.Staged()), journal.Walk(into.Profiles(), func(path string) error {
		x, name := filepath.Base(filepath.Dir(path)), strings.TrimSuffix(filepath.Base(path), ".zip")
		f, err := results.Read(into.Result(x, name)) // again: the journal may have changed before the machine was reserved
		if err == nil && !slices.ContainsFunc(f.Conditions, func(c results.Condition) bool { return len(c.Profiles) > 0 }) ||
			errors.Is(err, fs.ErrNotExist) {
			return os.Remove(path)
		}
		return nil
	}), results.Room(s.j.Root.Staged(), into.Path("data")))
	if err != nil {
		return fmt.Errorf("nothing was measured: %w", err)
	}
	return nil
}
