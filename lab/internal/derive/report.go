package derive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Report is what a change of the journal moves, for whoever judges it. All verdicts,
// those of before included, are derived by today's code.
type Report struct {
	Base   string // the commit that it is compared with, short
	Faults []archive.Fault
	// Changed and Gone are files that nothing may change or remove.
	Changed, Gone []string

	Moves []Move
	// ByCode are moves from what the lab of before derives to what today's derives from the
	// same data, that of before.
	ByCode []Move
	// Untold is why nothing tells these moves, if the lab of before derives nothing.
	Untold string

	// Reworded claims have the bars of before and other words.
	New, Edited, Reworded, Withdrawn, Dropped []ClaimOf

	Batches []*Batch
	Hosts   []*host.Profile // new ones
	// Twins has, by the name of a new host, the hosts that may be the same machine:
	// nothing in the profiles tells them apart, and they count as two.
	Twins map[string][]string

	Findings, Settled []FindingOf // audit findings that are new or gone
	Texts             []TextMove
	Printed           []Print
}

// A ClaimOf is a claim of an experiment, with its wording or, if it was withdrawn, the
// reason.
type ClaimOf struct{ Experiment, ID, Says string }

// A Batch is the new runs of one experiment on one host.
type Batch struct {
	Experiment, Host string
	Runs             int
	Trials, Invalid  int
	Gates            map[string]int // of the invalid trials
	Bounds           map[string]int // of the valid trials
	ClientWalls      int            // valid trials in which the client was a wall
	Unmade           []string       // why runs could not be made, or ended early
}

// A FindingOf is a disagreement in the figures of an entry's text.
type FindingOf struct {
	Entry string
	audit.Finding
}

// A TextMove is a claim of a text of which its figures say something else than before.
type TextMove struct{ Entry, Says, From, To string }

// A Print is what was added to or changed in the published figures of an entry.
type Print struct {
	Entry   string
	New     int      // figures of its text and its tables
	Changed []string // figures printed otherwise than before, or gone
}

// ReportOn compares a journal with a past state of it.
func ReportOn(past *archive.Past, now *archive.Journal) *Report {
	r := &Report{Base: past.Commit, Faults: past.Faults, Changed: past.Changed, Gone: past.Gone,
		Twins: map[string][]string{}}
	from := overHosts(past.Journal)
	r.Moves = moves(from, overHosts(now), inOrder(now))
	if past.Recoded {
		if was, err := byItsLab(past); err != nil {
			r.Untold = err.Error()
		} else {
			r.ByCode = moves(was, from, inOrder(past.Journal))
		}
	}
	r.claims(past.Journal, now)
	r.runs(past.Journal, now)
	r.audits(past.Journal, now)
	return r
}

// inOrder lists the names of the experiments.
func inOrder(j *archive.Journal) []string {
	return strict.Called(j.Experiments, func(x *experiment.Experiment) string { return x.Name })
}

func (r *Report) claims(past, now *archive.Journal) {
	for _, x := range now.Experiments {
		was, err := past.Experiment(x.Name)
		if err != nil {
			was = &experiment.Experiment{Name: x.Name}
		}
		for _, c := range x.Claims {
			switch old, had := was.Claim(c.ID); {
			case !had:
				r.New = append(r.New, ClaimOf{x.Name, c.ID, c.Text})
			case !x.Holds(was, old):
				r.Edited = append(r.Edited, ClaimOf{x.Name, c.ID, c.Text})
			case c.Text != old.Text:
				r.Reworded = append(r.Reworded, ClaimOf{x.Name, c.ID, c.Text + " Before: " + old.Text})
			}
		}
		withdrawn := strict.Set(was.Withdrawn, func(w experiment.Withdrawal) string { return w.ID })
		for _, w := range x.Withdrawn {
			if !withdrawn[w.ID] {
				r.Withdrawn = append(r.Withdrawn, ClaimOf{x.Name, w.ID, w.Why})
			}
			withdrawn[w.ID] = true
		}
		for _, c := range was.Claims {
			if _, stands := x.Claim(c.ID); !stands && !withdrawn[c.ID] {
				r.Dropped = append(r.Dropped, ClaimOf{x.Name, c.ID, c.Text})
			}
		}
	}
	for _, x := range past.Experiments {
		if _, err := now.Experiment(x.Name); err != nil {
			for _, c := range x.Claims {
				r.Dropped = append(r.Dropped, ClaimOf{x.Name, c.ID, c.Text})
			}
		}
	}
}

// runs gathers new runs and hosts. Batches with most trials bound by the client come
// first, then those with most invalid trials.
func (r *Report) runs(past, now *archive.Journal) {
	type key struct{ x, host string }
	batches := map[key]*Batch{}
	had := strict.Set(past.Runs, func(f *results.File) string { return f.Experiment + "/" + f.Run })
	for _, f := range now.Runs {
		if had[f.Experiment+"/"+f.Run] {
			continue
		}
		k := key{f.Experiment, hosts(f)}
		b := batches[k]
		if b == nil {
			b = &Batch{Experiment: k.x, Host: k.host, Gates: map[string]int{}, Bounds: map[string]int{}}
			batches[k] = b
		}
		b.add(f)
	}
	r.Batches = slices.SortedFunc(maps.Values(batches), func(a, b *Batch) int {
		return cmp.Or(b.ClientWalls-a.ClientWalls, b.Invalid-a.Invalid, cmp.Compare(a.Experiment, b.Experiment),
			cmp.Compare(a.Host, b.Host), b.Trials-a.Trials)
	})
	for _, id := range slices.Sorted(maps.Keys(now.Hosts)) {
		if past.Hosts[id] != nil {
			continue
		}
		h := now.Hosts[id]
		r.Hosts = append(r.Hosts, h)
		for _, other := range slices.Sorted(maps.Keys(now.Hosts)) {
			if o := now.Hosts[other]; other != id && h.CPU != "" && h.Same(*o) {
				r.Twins[id] = append(r.Twins[id], other)
			}
		}
	}
}

// hosts names the server's host, and that it was one of a fleet.
func hosts(f *results.File) string {
	if n := len(f.Hosts.Clients); n > 0 {
		return fmt.Sprintf("%s in a fleet with %d clients", f.Hosts.Server, n)
	}
	return f.Hosts.Server
}

func (b *Batch) add(f *results.File) {
	b.Runs++
	b.Trials += len(f.Trials)
	for _, t := range f.Trials {
		if t.Valid {
			walls := f.Evidence(t).Walls()
			b.Bounds[string(walls.Bound())]++
			if walls.Meets(gate.BoundClientCPU) {
				b.ClientWalls++
			}
			continue
		}
		b.Invalid++
		for _, why := range t.Reasons {
			b.Gates[why.Gate]++
		}
	}
	why := cmp.Or(f.NotApplicable, f.Provenance.StoppedEarly)
	if why != "" && !slices.Contains(b.Unmade, why) {
		b.Unmade = append(b.Unmade, why)
	}
}

// audits compares what the figures of texts say about each other.
func (r *Report) audits(past, now *archive.Journal) {
	if past.Audits == nil && len(past.Runs) > 0 {
		return // there were faults, which the report names
	}
	was := map[string]*audit.File{}
	for _, a := range past.Audits {
		was[a.Entry] = a
	}
	for _, a := range now.Audits {
		before := cmp.Or(was[a.Entry], &audit.File{})
		delete(was, a.Entry)
		r.Findings = append(r.Findings, unsettled(a.Entry, a, before)...)
		r.Settled = append(r.Settled, unsettled(a.Entry, before, a)...)
		for _, c := range a.Claims {
			from := "not there"
			if i := slices.IndexFunc(before.Claims, func(v audit.Verdict) bool { return v.ID == c.ID }); i >= 0 {
				from = word(before.Claims[i])
			}
			if to := word(c); from != to {
				r.Texts = append(r.Texts, TextMove{a.Entry, c.Says, from, to})
			}
		}
		p := Print{Entry: a.Entry}
		old, is := printed(before), printed(a)
		for _, id := range slices.Sorted(maps.Keys(is)) {
			if was, had := old[id]; !had {
				p.New++
			} else if was != is[id] {
				p.Changed = append(p.Changed, id+": "+is[id]+", before "+was)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(old)) {
			if is[id] == "" {
				p.Changed = append(p.Changed, id+": gone, before "+old[id])
			}
		}
		if p.New+len(p.Changed) > 0 {
			r.Printed = append(r.Printed, p)
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(was)) {
		r.Settled = append(r.Settled, unsettled(entry, was[entry], &audit.File{})...)
		r.Printed = append(r.Printed, Print{Entry: entry, Changed: []string{"all figures are gone"}})
	}
}

// printed has every figure of a text and of its tables, by name.
func printed(a *audit.File) map[string]string {
	out := map[string]string{}
	for id, f := range a.Figures {
		out[id] = f.Printed
	}
	for _, t := range a.Tables {
		for _, c := range t.Conditions {
			for name, f := range c.Metrics {
				out[t.ID+"."+c.ID+"."+name] = f.Printed + f.Text
			}
		}
	}
	return out
}

// unsettled lists the disagreements of one audit that the other does not have.
func unsettled(entry string, of, other *audit.File) (out []FindingOf) {
	for _, f := range of.Findings {
		if f.Verdict == audit.Disagrees && !slices.ContainsFunc(other.Findings,
			func(g audit.Finding) bool { return g.ID == f.ID && g.Verdict == audit.Disagrees }) {
			out = append(out, FindingOf{entry, f})
		}
	}
	return out
}

func word(v audit.Verdict) string {
	if v.SingleRun != "" {
		return "single run: " + v.SingleRun
	}
	return string(v.Verdict)
}
