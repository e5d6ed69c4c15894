package doctor

import (
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// A cpuQuota is how much CPU the lab's control groups allow it.
type cpuQuota struct {
	cores     float64 // the least that any group above allows; infinite without a quota
	throttled int64   // periods in which the quota stopped it, over all of them
	known     bool
}

// cpuQuota reads the groups from the lab's own up to the top. It knows both
// versions of control groups; containers still run on the first.
func (m Machine) cpuQuota() cpuQuota {
	q := cpuQuota{cores: math.Inf(1)}
	text, err := os.ReadFile(filepath.Join(m.Proc, "self", "cgroup"))
	if err != nil {
		return q
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 {
			continue
		}
		var mounts []string
		switch {
		case parts[0] == "0" && parts[1] == "": // version 2, alone or beside version 1
			mounts = []string{m.Cgroup, filepath.Join(m.Cgroup, "unified")}
		case slices.Contains(strings.Split(parts[1], ","), "cpu"):
			mounts = []string{filepath.Join(m.Cgroup, "cpu"), filepath.Join(m.Cgroup, parts[1])}
		}
		for _, mount := range mounts {
			if q.climb(mount, parts[2]) {
				break // two names of one mount would count it twice
			}
		}
	}
	return q
}

// climb reads one hierarchy, and tells whether it says anything of CPU.
func (q *cpuQuota) climb(mount, group string) (found bool) {
	for dir := path.Clean("/" + group); ; dir = path.Dir(dir) {
		at := filepath.Join(mount, dir)
		max, period, ok := strings.Cut(read(at, "cpu.max"), " ")
		if !ok {
			max, period = read(at, "cpu.cfs_quota_us"), read(at, "cpu.cfs_period_us")
		}
		if max != "" {
			found, q.known = true, true
		}
		a, err1 := strconv.ParseFloat(max, 64)
		b, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && a > 0 && b > 0 { // else "max", or -1
			q.cores = min(q.cores, a/b)
		}
		fields := strings.Fields(read(at, "cpu.stat"))
		for i := 0; i+1 < len(fields); i += 2 {
			if n, err := strconv.ParseInt(fields[i+1], 10, 64); err == nil && fields[i] == "nr_throttled" {
				q.throttled += n
			}
		}
		if dir == "/" {
			return found
		}
	}
}

// quota is about the CPU that a container's or a service's limit leaves.
func (m Machine) quota(w *watch) Finding {
	f := Finding{Level: Good, About: "CPU quota", Seen: "none"}
	q := m.cpuQuota()
	if math.IsInf(q.cores, 1) {
		return f
	}
	f.Seen = fmt.Sprintf("%.2g cores, used up in %d periods so far", q.cores, q.throttled)
	stopped := w != nil && w.b.quota > w.a.quota
	if stopped {
		f.Seen += fmt.Sprintf(", %d of them in the last %v", w.b.quota-w.a.quota, w.over)
	}
	if q.cores >= float64(len(m.Allowed)) && !stopped {
		return f
	}
	f.Level, f.Mend = Limit, "start the container or service without a CPU limit (docker run without --cpus; CPUQuota= in systemd)"
	f.Means = "a trial that is stopped by it is invalid: " + m.name(m.claims(every))
	f.Bars = m.claims(func(x *experiment.Experiment, c experiment.Claim) bool {
		return float64(x.CoresFor(c)) > q.cores
	})
	if len(f.Bars) > 0 {
		f.Means += "; not applicable: " + m.name(f.Bars)
	}
	return f
}
