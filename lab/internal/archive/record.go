package archive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// Record lists the runs that a run's verdicts may rest on, oldest first and the
// run itself last: earlier runs of the same experiment on the same hosts. The
// run need not be in the journal yet. A published run stands alone.
func (j *Journal) Record(x *experiment.Experiment, f *results.File) []verdict.Run {
	var out []verdict.Run
	for _, r := range j.Runs {
		if j.alike(r, f) && byStart(r, f) < 0 {
			out = append(out, verdict.Run{File: r, Then: j.Then(x, r)})
		}
	}
	slices.SortFunc(out, func(a, b verdict.Run) int { return byStart(a.File, b.File) })
	return append(out, verdict.Run{File: f, Then: j.Then(x, f)})
}

// Question gathers what the journal's runs asked under an experiment's name, on all
// hosts.
func (j *Journal) Question(x *experiment.Experiment) *verdict.Question {
	var runs []verdict.Run
	for _, r := range j.Runs {
		if r.Experiment == x.Name && r.Provenance != nil {
			runs = append(runs, verdict.Run{File: r, Then: j.Then(x, r)})
		}
	}
	slices.SortFunc(runs, func(a, b verdict.Run) int { return byStart(a.File, b.File) })
	return verdict.Asked(runs)
}

// Machine is the host that stands for a machine wherever blocks are added up and
// machines are counted. A machine that was measured under several names declares
// it in the profile of each later one.
func (j *Journal) Machine(id string) string {
	if h := j.Hosts[id]; h != nil && h.SameAs != "" {
		return h.SameAs
	}
	return id
}

// On names the machines of a run.
func (j *Journal) On(f *results.File) results.Hosts {
	on := results.Hosts{Server: j.Machine(f.Hosts.Server), Client: j.Machine(f.Hosts.Client)}
	for _, id := range f.Hosts.Clients {
		on.Clients = append(on.Clients, j.Machine(id))
	}
	return on
}

// sameAs checks what a host's profile says of another.
func (j *Journal) sameAs(h *host.Profile) error {
	if h.SameAs == "" {
		return nil
	}
	switch other := j.Hosts[h.SameAs]; {
	case h.SameAs == h.ID:
		return errors.New("/same_as: it names the host itself")
	case other == nil:
		return fmt.Errorf("/same_as: no profile %s", j.Root.Rel(j.Root.Host(h.SameAs)))
	case other.SameAs != "":
		return fmt.Errorf("/same_as: %s is the same as %s; name that one", h.SameAs, other.SameAs)
	case !h.Alike(*other):
		return fmt.Errorf("/same_as: %s computes with other parts, so it is another machine", h.SameAs)
	}
	return nil
}

// alike tells whether two measured runs are of one experiment on the same
// machines: with a fleet's clients both, the same ones, or without. A server's
// blocks never count together with those of a fleet that it is the server of.
func (j *Journal) alike(a, b *results.File) bool {
	return a.Experiment == b.Experiment && j.On(a).Same(j.On(b)) && a.Provenance != nil && b.Provenance != nil
}

// byStart orders measured runs by start, then by name.
func byStart(a, b *results.File) int {
	return cmp.Or(a.Provenance.StartedAt.Compare(b.Provenance.StartedAt), cmp.Compare(a.Run, b.Run))
}
