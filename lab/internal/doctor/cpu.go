package doctor

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func (m Machine) cpu(elem ...string) string {
	return filepath.Join(append([]string{m.Sys, "devices", "system", "cpu"}, elem...)...)
}

// division says how the cores would be divided, and which claims need more.
func (m Machine) division() Finding {
	s, n := m.Split, len(m.Allowed)
	f := Finding{Level: Good, About: "cores",
		Seen: fmt.Sprintf("%d: server on %s, client on %s", n, cores.Format(s.Server), cores.Format(s.Client))}
	switch {
	case m.loads():
		f.Seen = fmt.Sprintf("%d, all for the load", n)
		return f
	case m.Fleet != nil:
		f.Seen = fmt.Sprintf("%d, all for the servers: the clients have their own", n)
	}
	f.Bars = m.claims(func(d experiment.Demands) bool { return d.Cores > n })
	if len(f.Bars) > 0 {
		f.Level, f.Means = Limit, "not applicable: "+m.byCores(n)
	}
	if len(s.Server) == 0 && m.Fleet == nil {
		f.Level, f.Seen = Limit, "one core, which server and client share"
		f.Means = "each disturbs the other, and no trial can say whose CPU bounded it"
		f.Bars = append(f.Bars, m.claims(func(d experiment.Demands) bool { return d.CPUWall && d.Cores <= n })...)
		if len(f.Bars) > 0 {
			f.Means += "; not applicable: " + m.name(f.Bars)
		}
	}
	if online, err := cores.Parse(read(m.cpu("online"))); err == nil && len(online) > n {
		f.Seen += fmt.Sprintf("; %d of the machine's %d are allowed", n, len(online))
		if f.Level != Good {
			f.Mend = "run without taskset, or give the container more CPUs"
		}
	}
	return f
}

// byCores names the claims that need more than n cores and how many they need,
// fewest first.
func (m Machine) byCores(n int) string {
	need := map[int][]Claim{}
	for _, x := range m.Experiments {
		for _, c := range x.Claims {
			if cores := x.Needs(c).Cores; cores > n {
				need[cores] = append(need[cores], Claim{x.Name, c.ID})
			}
		}
	}
	var parts []string
	for i, cores := range slices.Sorted(maps.Keys(need)) {
		words := "%d by %s"
		if i == 0 {
			words = "%d cores are needed by %s"
		}
		parts = append(parts, fmt.Sprintf(words, cores, m.name(need[cores])))
	}
	return strings.Join(parts, "; ")
}

// schedstat checks whether the kernel keeps the CPU time of threads; every
// kernel keeps that of processes. A kernel that does not has no file, or zeros
// in it.
func (m Machine) schedstat() Finding {
	f := Finding{Level: Good, About: "CPU time", Seen: "of processes and of threads"}
	if first, _, _ := strings.Cut(read(m.Proc, "self", "schedstat"), " "); first == "" || first == "0" {
		f.Level, f.Seen = Limit, "of processes, and not of threads: this kernel shows no schedstat"
		f.Bars = m.claims(func(d experiment.Demands) bool { return d.CPUWall })
		f.Means = "how busy the client's busiest thread was is not known, and so whether the client was the wall: " +
			m.name(f.Bars)
		if first == "0" {
			f.Mend = "sudo sysctl -w kernel.task_delayacct=1"
		}
	}
	return f
}
