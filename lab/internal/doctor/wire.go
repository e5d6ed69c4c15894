package doctor

import (
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// tried is the wire that is made.
var tried = wire.Spec{LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02}

// wires makes a wire and removes it. If that fails, it looks for the setting
// that forbids namespaces to users. Only the attempt decides, since containers
// forbid them without any setting.
func (m Machine) wires() []Finding {
	f := Finding{Level: Good, About: "wire", Seen: "a shaped wire between two namespaces can be made"}
	made, err := wire.Make(tried)
	if err == nil {
		made.Down()
		return []Finding{m.namespaces(true), f}
	}
	f.Level, f.Seen, f.Bars = Limit, err.Error(), m.needs(overWire)
	f.Means = "claims over a wire are not applicable"
	if strings.Contains(f.Seen, "sch_tbf") {
		f.Mend = "sudo modprobe sch_tbf"
		return []Finding{m.namespaces(true), f}
	}
	return []Finding{m.namespaces(false), f}
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
