package doctor

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/topology"
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
	wire.Level, wire.Seen, wire.Bars = Limit, err.Error(), m.needs(overWire)
	wire.Means = "claims over a wire are not applicable"
	if unavailable := (topology.Unavailable{}); !errors.As(err, &unavailable) {
		wire.Level, wire.Means = Fault, "runs over a wire end at once with this error"
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

func overWire(n experiment.Demands) bool { return n.Wire }

// machines says whether claims need a second machine as the client.
func (m Machine) machines() Finding {
	f := Finding{Level: Good, About: "machines", Seen: "this one"}
	if f.Bars = m.needs(func(n experiment.Demands) bool { return n.Fleet }); f.Bars {
		f.Level, f.Means = Limit, "claims that need several machines are not applicable"
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
