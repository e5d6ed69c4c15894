package archive

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// drawnRun makes up a run of a host whose figures are those of its seed.
func drawnRun(r repository, on string, started time.Time, seed uint64, blocks int) *results.File {
	r.t.Helper()
	x, err := experiment.Parse("11-threads", []byte(archivetest.Read(r.t, r.root.Path(archivetest.ThreadsDesign))))
	if err != nil {
		r.t.Fatal(err)
	}
	return madeup.Run(madeup.Plan{Experiment: x, Hosts: results.Hosts{Server: on, Client: on}, Started: started,
		Seed: seed, Blocks: blocks, OneStay: true, Ended: results.Blocks})
}

// shift moves a run in time, and names it by its new start.
func shift(f *results.File, by time.Duration) {
	f.Provenance.StartedAt, f.Provenance.FinishedAt = f.Provenance.StartedAt.Add(by), f.Provenance.FinishedAt.Add(by)
	for i := range f.Trials {
		f.Trials[i].StartedAt = f.Trials[i].StartedAt.Add(by)
	}
	f.Run = madeup.Name(f.Provenance.StartedAt, f.Hosts.Server)
}

// paste gives a trial the figures of another, at its own time.
func paste(to, from *results.Trial) {
	slots := *from.Slots
	slots.AtS, slots.FillS = to.Slots.AtS, to.Slots.FillS
	seq, block, condition, at := to.Seq, to.Block, to.Condition, to.StartedAt
	*to = *from
	to.Seq, to.Block, to.Condition, to.StartedAt, to.Slots = seq, block, condition, at, &slots
}

// Each forgery makes blocks count that nobody measured. It is refused in one line for each
// run, which names both files and both places, when it is read and when it is added.
func TestNothingCountsTwice(t *testing.T) {
	const elsewhere = "elsewhere"
	began := committed.Add(100 * time.Hour)
	for _, c := range []struct {
		name  string
		forge func(r repository, f *results.File) []*results.File // the run that stands, and what is added
		// of each that is added, after the run's path; "" if it is right
		says []string
	}{
		{"copied six times, at other times", func(r repository, f *results.File) (all []*results.File) {
			for i := range 6 {
				again := drawnRun(r, server, began, 7, 5)
				shift(again, time.Duration(i+1)*7*time.Minute)
				all = append(all, again)
			}
			return all
		}, slices.Repeat([]string{"/provenance/seed: the same as THAT: /provenance/seed; "}, 6)},
		{"the figures of a run under another seed", func(r repository, f *results.File) []*results.File {
			again := drawnRun(r, server, began.Add(time.Hour), 8, 5)
			for i := range again.Trials {
				to := &again.Trials[i]
				for k := range f.Trials {
					// which is the control
					if from := &f.Trials[k]; from.Block == to.Block && from.Condition == to.Condition && to.Condition < "c4" {
						paste(to, from)
					}
				}
			}
			return []*results.File{again}
		}, []string{": the same as THAT: /trials/"}},
		{"blocks made of others", func(r repository, f *results.File) []*results.File {
			long := drawnRun(r, server, began.Add(time.Hour), 8, 6)
			for i := range long.Trials {
				for k := range long.Trials {
					if to, from := &long.Trials[i], &long.Trials[k]; to.Block == from.Block+3 && to.Condition == from.Condition {
						paste(to, from)
					}
				}
			}
			return []*results.File{long}
		}, []string{"the same as this run's /trials/"}},
		{"a trial over another", func(r repository, f *results.File) []*results.File {
			again := drawnRun(r, server, began.Add(time.Hour), 8, 3)
			paste(&again.Trials[5], &again.Trials[1])
			return []*results.File{again}
		}, []string{"/trials/5: the same as this run's /trials/1"}},
		{"as another host's", func(r repository, f *results.File) []*results.File {
			return []*results.File{drawnRun(r, elsewhere, began, 7, 5)}
		}, []string{"/provenance/seed: the same as THAT: /provenance/seed; "}},
		{"at the same time on one host", func(r repository, f *results.File) []*results.File {
			*f = *drawnRun(r, server, began, 7, 40)
			return []*results.File{drawnRun(r, server, began.Add(time.Second), 8, 40)}
		}, []string{"at the same time as THAT: /trials/"}},
		{"at the same time on another host", func(r repository, f *results.File) []*results.File {
			*f = *drawnRun(r, server, began, 7, 40)
			return []*results.File{drawnRun(r, elsewhere, began.Add(time.Second), 8, 40)}
		}, []string{""}},
		{"at the same time on another machine of the kind", func(r repository, f *results.File) []*results.File {
			*f = *drawnRun(r, server, began, 7, 40)
			again := drawnRun(r, server, began.Add(time.Second), 8, 40)
			again.Provenance.Boot = "0123456789abcdef"
			return []*results.File{again}
		}, []string{""}},
		{"in turn with another run", func(r repository, f *results.File) []*results.File {
			last := f.Trials[len(f.Trials)-1]
			again := drawnRun(r, server, last.StartedAt.Add(last.Took(f.Provenance)).Truncate(time.Second).Add(time.Second), 8,
				5)
			f.Provenance.FinishedAt = again.Provenance.FinishedAt.Add(time.Minute)
			return []*results.File{again}
		}, []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newJournal(t)
			archivetest.Write(t, r.root.Host(elsewhere),
				strings.Replace(archivetest.Read(t, r.root.Host(server)), `"`+server+`"`, `"`+elsewhere+`"`, 1))
			first := drawnRun(r, server, began, 7, 5)
			added := c.forge(r, first)
			that := r.add(first)
			j, faults, err := Open(r.root)
			if err != nil || len(faults) > 0 {
				t.Fatal(err, faults)
			}
			for i, f := range added {
				path := r.add(f)
				want := strings.ReplaceAll(c.says[i], "THAT", that)
				err := j.Add(f)
				if (err == nil) != (want == "") || err != nil &&
					(!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
					t.Errorf("added: %v, want %q", err, want)
				}
				_, faults, broken := Open(r.root)
				if broken != nil || len(faults) != map[bool]int{false: 1}[want == ""] {
					t.Errorf("read: %v, %v, want one fault: %v", faults, broken, want != "")
				}
				for _, fault := range faults {
					if fault.Path != path || !strings.Contains(fault.Err.Error(), want) {
						t.Errorf("read: %s: %v, want %s: %s", fault.Path, fault.Err, path, want)
					}
				}
				r.remove(path)
			}
		})
	}
}

// A run that is taken back leaves nothing behind.
func TestARemovedRunMayBeAddedAgain(t *testing.T) {
	r := newJournal(t)
	f := drawnRun(r, server, committed.Add(100*time.Hour), 7, 2)
	r.add(f)
	r.remove(r.root.Rel(r.root.Result(f.Experiment, f.Run)))
	j, faults, err := Open(r.root)
	if err != nil {
		t.Fatal(err, faults)
	}
	for range 2 {
		if err := j.Add(f); err != nil {
			t.Fatal(err)
		}
		if !j.Drew(f.Experiment, 7) || j.Drew("10-workers", 7) {
			t.Error("the seed of a run is not known")
		}
		j.Remove(f)
		if j.Drew(f.Experiment, 7) {
			t.Error("the seed of a run that was taken back is known")
		}
	}
}
