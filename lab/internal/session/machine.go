package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Machine is this one with the name that it has in data/hosts.
type Machine struct {
	*host.Machine        // Drawn: the name is, and is to be kept in the clone
	Origin        string // of the name, in words
	own           string // the name that is made from the machine itself
}

// Identify describes the machine whose files are below a root. Its name is, in this order, the one that the caller
// gave, the one in the clone's own file, and the one made from the machine itself.
func Identify(j *archive.Journal, root, given string) (*Machine, error) {
	m, err := host.Probe(root)
	if err != nil {
		return nil, err
	}
	local, err := host.LocalName(j.Root.LocalName())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.Root.Rel(j.Root.LocalName()), err)
	}
	w := &Machine{Machine: m, own: m.ID, Origin: "made from its CPUs, their caches and a keyed hash of its machine-id"}
	switch {
	case given != "":
		w.Origin = "given by --host"
	case local != "":
		w.Origin = "from " + j.Root.Rel(j.Root.LocalName())
	case m.Drawn:
		w.Origin = "made from its CPUs, their caches and a draw at its last start, since " + m.Kind
	case m.Kind != "":
		w.Origin += "; blocks of its starts are separate records, because " + m.Kind
	}
	if name := cmp.Or(given, local); name != "" {
		m.ID, m.Drawn = name, false
	}
	return w, nil
}

// Lookalikes names the hosts of the journal that this machine may be, if it is not known by
// its name. Machines with ids of their own that differ are not among them.
func (w *Machine) Lookalikes(j *archive.Journal) string {
	if j.Hosts[w.ID] != nil {
		return ""
	}
	same := func(id string) bool { return j.Hosts[id].Same(w.Profile) }
	return strings.Join(strict.Filter(slices.Sorted(maps.Keys(j.Hosts)), same), " or ")
}

// Profile describes this machine as the journal has it, if it does. The clone keeps a drawn name,
// since the next start would draw another.
func Profile(j *archive.Journal, root, given string, say func(format string, args ...any)) (*host.Profile, error) {
	w, err := Identify(j, root, given)
	if err != nil {
		return nil, err
	}
	if known, ok := j.Hosts[w.ID]; ok && known.Same(w.Profile) {
		return known, nil
	} else if ok {
		return nil, fmt.Errorf("%s describes another machine; choose another name with --host", j.Root.Rel(j.Root.Host(w.ID)))
	}
	if w.ID != w.own {
		w.Mark = "" // the name may be that of a kind of machines, as a CI service has them
	}
	data, err := results.Encode(w.Profile)
	if err == nil {
		err = results.Decode(data, new(host.Profile))
	}
	if err != nil {
		return nil, fmt.Errorf("this machine's profile: %w", err)
	}
	if alike := w.Lookalikes(j); given == "" && alike != "" {
		say("this machine is new here, as %s. If it is %s, which has the same parts, stop and add --host with that name: "+
			"else it would count as two machines", w.ID, alike)
	}
	if w.Drawn {
		if err := results.Replace(j.Root.Scratch(), j.Root.LocalName(), w.Local()); err != nil {
			return nil, err
		}
		say("nothing tells this machine apart from others of its kind for good, because %s: its name was drawn and is "+
			"kept in %s", w.Kind, j.Root.Rel(j.Root.LocalName()))
	}
	return &w.Profile, nil
}
