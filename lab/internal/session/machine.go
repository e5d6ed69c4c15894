package session

import (
	"cmp"
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// Profile describes the machine whose files are below a root, as the journal has it, if it does. Its name is the one
// that the caller gave or, without one, made from the machine itself.
func Profile(j *archive.Journal, root, given string, say func(format string, args ...any)) (*host.Profile, error) {
	m, err := host.Probe(root)
	if err != nil {
		return nil, err
	}
	if given != "" {
		m.ID, m.Drawn = given, ""
	}
	if known, ok := j.Hosts[m.ID]; ok && known.Same(m.Profile) {
		return known, nil
	} else if ok {
		return nil, fmt.Errorf("%s describes another machine; choose another name with --host", j.Root.Rel(j.Root.Host(m.ID)))
	}
	data, err := results.Encode(m.Profile)
	if err = cmp.Or(err, results.Decode(data, new(host.Profile))); err != nil {
		return nil, fmt.Errorf("this machine's profile: %w", err)
	}
	if m.Drawn != "" {
		say("nothing tells this machine apart from others of its kind for good, because %s: %s is its name until it starts "+
			"again; if data/hosts has it by another one, stop and add --host with that", m.Drawn, m.ID)
	}
	return &m.Profile, nil
}
