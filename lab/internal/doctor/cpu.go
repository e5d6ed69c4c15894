package doctor

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/host"
)

func (m Machine) cpu(elem ...string) string {
	return filepath.Join(append([]string{m.Sys, "devices", "system", "cpu"}, elem...)...)
}

// division says how the cores would be divided, and whether claims need more.
func (m Machine) division() Finding {
	s, n := m.Split, len(m.Allowed)
	f := Finding{Level: Good, About: "cores",
		Seen: fmt.Sprintf("%d: server on %s, client on %s", n, cores.Format(s.Server), cores.Format(s.Client))}
	most := 0
	for _, x := range m.Experiments {
		for _, c := range x.Claims {
			most = max(most, x.Needs(c).Cores)
		}
	}
	if f.Bars = most > n; f.Bars {
		f.Level, f.Means = Limit, fmt.Sprintf("claims that need more are not applicable; the most asked for is %d", most)
	}
	if len(s.Server) == 0 {
		f.Level, f.Seen = Limit, "one core, which server and client share"
		f.Means = "each disturbs the other, and no trial can say whose CPU bounded it"
	}
	if online, err := cores.Parse(host.Line(m.cpu("online"))); err == nil && len(online) > n {
		f.Seen += fmt.Sprintf("; %d of the machine's %d are allowed", n, len(online))
		if f.Level != Good {
			f.Mend = "run without taskset, or give the container more CPUs"
		}
	}
	return f
}

// siblings looks for hardware threads of one core that are on both sides, or
// half used by others. A virtual machine may show hardware threads as cores;
// the host's layout is then not visible.
func (m Machine) siblings() Finding {
	f := Finding{Level: Good, About: "SMT", Seen: "no core has threads on both sides"}
	var both, outside []string
	shown := false
	for _, c := range m.Split.Server {
		ts, err := cores.Parse(host.Line(m.cpu(fmt.Sprintf("cpu%d", c), "topology", "thread_siblings_list")))
		if err != nil {
			continue
		}
		shown = true
		for _, t := range ts {
			switch {
			case slices.Contains(m.Split.Client, t):
				both = append(both, fmt.Sprintf("%d and %d", c, t))
			case !slices.Contains(m.Allowed, t):
				outside = append(outside, fmt.Sprint(t))
			}
		}
	}
	switch {
	case len(both) > 0:
		f.Level, f.Seen = Limit, "server and client share cores: CPUs "+join(both)
		f.Means = "one slows the other by up to a half"
		f.Mend = "echo off | sudo tee " + m.cpu("smt", "control")
	case len(outside) > 0:
		f.Level, f.Seen = Limit, "the server's cores have threads that the lab may not use: "+join(outside)
		f.Means = "whoever runs there slows the server"
		f.Mend = "allow whole cores, in taskset or in the container's --cpuset-cpus"
	case len(m.Split.Server) == 0:
		f.Seen = "one core: nothing is divided"
	case !shown:
		f.Seen = notVisible
	}
	return f
}

// governor finds out what sets the clock of the cores in use.
func (m Machine) governor() Finding {
	f := Finding{Level: Good, About: "governor", Seen: notVisible}
	var seen []string
	for _, c := range m.Allowed {
		g := host.Line(m.cpu(fmt.Sprintf("cpu%d", c), "cpufreq", "scaling_governor"))
		if g != "" && !slices.Contains(seen, g) {
			seen = append(seen, g)
		}
	}
	if len(seen) == 0 {
		return f
	}
	f.Seen = join(seen)
	if len(seen) > 1 || seen[0] != "performance" {
		f.Level = Limit
		f.Means = "the clock follows the load, so that a light load costs more CPU time a request"
		f.Mend = "echo performance | sudo tee " + m.cpu("cpu*", "cpufreq", "scaling_governor")
	}
	return f
}

// turbo tells whether the clock may rise while few cores are busy and cool.
func (m Machine) turbo() Finding {
	f := Finding{Level: Good, About: "turbo", Seen: notVisible}
	for _, s := range []struct{ path, on, off string }{
		{m.cpu("intel_pstate", "no_turbo"), "0", "1"},
		{m.cpu("cpufreq", "boost"), "1", "0"},
	} {
		switch host.Line(s.path) {
		case s.off:
			f.Seen = "off"
			return f
		case s.on:
			f.Level, f.Seen = Limit, "on"
			f.Means = "the clock depends on how many cores are busy and how warm they are"
			f.Mend = fmt.Sprintf("echo %s | sudo tee %s", s.off, s.path)
			return f
		}
	}
	return f
}

// fast has the clock sources that are read without a system call.
var fast = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase",
	"riscv_clocksource", "xen"}

func (m Machine) clock() Finding {
	dir := filepath.Join(m.Sys, "devices", "system", "clocksource", "clocksource0")
	f := Finding{Level: Good, About: "clock", Seen: host.Line(dir, "current_clocksource")}
	switch {
	case f.Seen == "":
		f.Seen = "source not shown here"
	case !slices.Contains(fast, f.Seen):
		f.Level = Limit
		f.Means = "each look at the clock is a system call, which server and client pay for with each request"
		for _, s := range strings.Fields(host.Line(dir, "available_clocksource")) {
			if slices.Contains(fast, s) {
				f.Mend = fmt.Sprintf("echo %s | sudo tee %s", s, filepath.Join(dir, "current_clocksource"))
				break
			}
		}
	}
	return f
}

// schedstat checks whether the kernel keeps the CPU time of threads; every
// kernel keeps that of processes. A kernel that does not has no file, or zeros
// in it.
func (m Machine) schedstat() Finding {
	f := Finding{Level: Good, About: "CPU time", Seen: "of processes and of threads"}
	if first, _, _ := strings.Cut(host.Line(m.Proc, "self", "schedstat"), " "); first == "" || first == "0" {
		f.Level, f.Seen = Limit, "of processes, and not of threads: this kernel shows no schedstat"
		f.Means = "how busy the client's busiest thread was is not known, and so whether the client was the wall"
		if first == "0" {
			f.Mend = "sudo sysctl -w kernel.task_delayacct=1"
		}
	}
	return f
}
