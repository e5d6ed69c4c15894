package check

import (
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// cores reports shares of a core's time that cannot be true.
func (t trial) cores() error {
	last := -1
	for i, c := range t.Cores {
		at := fmt.Sprintf("cores/%d", i)
		if c.CPU <= last {
			return wrong(at+"/cpu", "%d comes after %d; each core stands once, in order", c.CPU, last)
		}
		last = c.CPU
		for _, s := range []struct {
			name string
			v    float64
		}{{"user", c.User}, {"system", c.System}, {"softirq", c.SoftIRQ}, {"steal", c.Steal}, {"idle", c.Idle}} {
			if !(s.v >= 0 && s.v <= 1) {
				return wrong(at+"/"+s.name, "%v is not a share", s.v)
			}
		}
		if sum := sum(c); math.Abs(sum-1) > ranBack {
			return wrong(at, "its states sum to %.4g of the core's time", sum)
		}
	}
	return nil
}

func sum(c results.Core) float64 { return c.User + c.System + c.SoftIRQ + c.Steal + c.Idle }

// cpu compares the server's CPU time with the window, the requests and the
// workers. CPU is sampled within the window, at a distance from its edges that
// varies, so the comparison allows a range.
func (t trial) cpu() error {
	m := t.Metrics
	if !t.Valid || !known(m, "server_cpu_s", "server_cpu_per_request_s", "throughput_rps", "duration_s") {
		return nil
	}
	used := m["server_cpu_per_request_s"] * m["throughput_rps"] // in cores
	if sampled := m["server_cpu_s"] / used; used > 0 && sampled > m["duration_s"]*(1+moments) {
		return wrong("metrics/server_cpu_per_request_s", "%v; with server_cpu_s it was seen for %.3g s of a window of %v s",
			m["server_cpu_per_request_s"], sampled, m["duration_s"])
	}
	if known(m, "server_workers_busy", "workers") {
		if workers := m["server_workers_busy"] * m["workers"]; workers > used*(1+moments) {
			return wrong("metrics/server_workers_busy", "%v; %v workers then used %.3g cores, and the server all in all %.3g",
				m["server_workers_busy"], m["workers"], workers, used)
		}
	}
	return nil
}

// busyCores compares the mean use of a side's cores with the use recorded for
// each core.
func (t trial) busyCores(f *file, levels setting.Levels) error {
	byCPU := map[int]results.Core{}
	for _, c := range t.Cores {
		byCPU[c.CPU] = c
	}
	for _, side := range []struct{ name, cpus string }{{"server", f.ServerCPUs(levels)},
		{"client", f.Provenance.ClientCPUs}} {
		cpus, err := cores.Parse(side.cpus)
		if side.cpus == "" || err != nil {
			continue
		}
		var busy, steal float64
		seen := len(t.Cores) > 0
		for _, cpu := range cpus {
			c, there := byCPU[cpu]
			// Where an idle counter ran backwards, the mean and the single cores were
			// corrected differently.
			seen = seen && there && math.Abs(sum(c)-1) <= 5*printed
			busy += (1 - c.Idle) / float64(len(cpus))
			steal += c.Steal / float64(len(cpus))
		}
		for _, mean := range []struct {
			name string
			want float64
		}{{side.name + "_cores_busy", busy}, {side.name + "_steal", steal}} {
			if t.Slots != nil && ofSlots[mean.name] {
				continue
			}
			if got, there := t.Metrics[mean.name]; there && seen && math.Abs(got-mean.want) > printed {
				return wrong("metrics/"+mean.name, "%v, but cores %s give %.4g", got, side.cpus, mean.want)
			}
		}
	}
	return nil
}

// threads compares the load generator's threads with the recorded busiest one.
func (t trial) threads() error {
	for i, v := range t.ClientThreads {
		at := fmt.Sprintf("client_threads/%d", i)
		switch {
		case !(v >= 0 && v <= most["client_thread_busy_max"]):
			return wrong(at, "%v is not a share of a core", v)
		case i > 0 && v > t.ClientThreads[i-1]:
			return wrong(at, "%v comes after %v; the busiest stands first", v, t.ClientThreads[i-1])
		}
	}
	const name = "client_thread_busy_max"
	if busiest, there := t.Metrics[name]; there && len(t.ClientThreads) > 0 &&
		math.Abs(busiest-t.ClientThreads[0]) > printed {
		return wrong("metrics/"+name, "%v, but the busiest of client_threads has %v", busiest, t.ClientThreads[0])
	}
	return nil
}
