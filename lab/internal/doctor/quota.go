package doctor

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// quota reports the CPU that the limit of a container or service leaves: that of the lab's
// control groups, from its own up to the top.
func (m Machine) quota() Finding {
	f := Finding{Level: Good, About: "CPU quota", Seen: "none"}
	q := cores.ReadQuota(m.Proc, m.Cgroup, "self")
	if !q.Seen {
		f.Spoils = true
		f.Level, f.Seen = Limit, "not shown: no control group says whether a quota holds the lab back, and for how long"
		f.Means = "a trial that may have been stopped unseen is invalid: " + m.name(m.claims(every))
		f.Mend = "mount the control groups at " + m.Cgroup +
			", or let a container see the host's (docker run --cgroupns=host)"
		return f
	}
	if math.IsInf(q.Cores, 1) {
		return f
	}
	f.Seen = fmt.Sprintf("%.2g cores, used up in %d periods so far", q.Cores, q.Stops)
	if q.Cores >= float64(len(m.Allowed)) {
		return f
	}
	f.Level, f.Mend = Limit, "start the container or service without a CPU limit (docker run without --cpus; CPUQuota= "+
		"in systemd)"
	f.Means = "a trial that is stopped by it is invalid: " + m.name(m.claims(every))
	f.Bars = m.claims(func(x *experiment.Experiment, c experiment.Claim) bool {
		return float64(x.Needs(c).Cores) > q.Cores
	})
	if len(f.Bars) > 0 {
		f.Means += "; not applicable: " + m.name(f.Bars)
	}
	return f
}
