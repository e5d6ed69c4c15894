package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/topology"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// tried is the wire that is made.
var tried = experiment.Topology{Kind: "netns", LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02}

// wires makes a wire and removes it. If that fails, it looks for the setting
// that forbids namespaces to users. Only the attempt decides, since containers
// forbid them without any setting.
func (m Machine) wires() []Finding {
	wire := Finding{Level: Good, About: "wire",
		Seen: "a shaped wire between two namespaces can be made (ip, tc with tbf, nsenter)"}
	script := topology.Carried
	if m.Root != "" {
		script = []string{filepath.Join("lab", "scripts", "wire.sh")}
	}
	link, err := topology.Up(tried, m.Root, script, false)
	if err == nil {
		link.Down()
		return []Finding{m.namespaces(true), wire}
	}
	wire.Level, wire.Seen, wire.Bars = Limit, err.Error(), m.claims(overWire)
	wire.Means = "not applicable: " + m.name(wire.Bars)
	if unavailable := (topology.Unavailable{}); !errors.As(err, &unavailable) {
		wire.Level, wire.Means = Fault, "runs end at once with this error: "+m.name(wire.Bars)
		if strings.Contains(wire.Seen, "qdisc") {
			wire.Mend = "sudo modprobe sch_tbf"
		}
		return []Finding{m.namespaces(true), wire}
	}
	apart := m.namespaces(false)
	if strings.Contains(wire.Seen, "not installed") && apart.Mend == containerMend {
		// Namespaces may be allowed: making the wire failed before it tried them.
		apart = Finding{Level: Good, About: apart.About, Seen: "not tried, for want of a tool"}
	}
	return []Finding{apart, wire}
}

// machines says which claims need a second machine as the client.
func (m Machine) machines() Finding {
	f := Finding{Level: Good, About: "machines", Seen: "this one"}
	if m.Fleet != nil {
		return m.fleet()
	}
	f.Bars = m.claims(func(x *experiment.Experiment, c experiment.Claim) bool { return x.Needs(c).Fleet })
	if len(f.Bars) > 0 {
		f.Level, f.Means = Limit, "not applicable from here alone; lab run --topology fleet loads this machine from others: "+
			m.name(f.Bars)
	}
	return f
}

// fleet says which claims need more clients than there are, or no fleet.
func (m Machine) fleet() Finding {
	f := Finding{Level: Good, About: "machines", Seen: "one of a fleet's clients"}
	if m.loads() {
		return f
	}
	f.Seen = fmt.Sprintf("the servers' host of a fleet with %s", words.Count(m.Fleet.Clients, "client"))
	few := m.claims(func(x *experiment.Experiment, c experiment.Claim) bool { return x.Needs(c).Clients > m.Fleet.Clients })
	events := m.claims(func(x *experiment.Experiment, c experiment.Claim) bool { return x.Needs(c).Alone != "" })
	var means []string
	if len(few) > 0 {
		means = append(means, "more clients are needed by "+m.name(few))
	}
	if len(events) > 0 {
		means = append(means, "on one machine only: "+m.name(events))
	}
	if f.Bars = append(few, events...); len(f.Bars) > 0 {
		f.Level, f.Means = Limit, "not applicable: "+strings.Join(means, "; ")
	}
	return f
}

const containerMend = "run on the machine itself, or in a container with --privileged"

func (m Machine) namespaces(work bool) Finding {
	f := Finding{Level: Good, About: "namespaces", Seen: "allowed"}
	var by, mends []string
	for _, d := range looks.Denials {
		if m.sysctl(d.Name) == d.Denies {
			by, mends = append(by, d.Name+"="+d.Denies), append(mends, d.Mend)
		}
	}
	switch {
	case work && len(by) > 0:
		f.Seen = "made, by this user's own right; kept from others by " + join(by)
	case !work && len(by) > 0:
		f.Level, f.Seen, f.Mend = Limit, "kept from this user by "+join(by), strings.Join(mends, " && ")
		f.Means = "without them only root can make a wire"
	case !work:
		f.Level, f.Seen = Limit, "none of the settings known to forbid them does"
		f.Means = "if they are what the wire lacks, a container or a sandbox forbids them"
		f.Mend = containerMend
	}
	return f
}
