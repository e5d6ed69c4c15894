package doctor

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
)

// notVisible is the text for what this machine does not show; for a virtual machine its host decides it.
const notVisible = "not visible here, as in most virtual machines"

func (m Machine) cpu(elem ...string) string {
	return filepath.Join(append([]string{m.Sys, "devices", "system", "cpu"}, elem...)...)
}

// division says how the cores would be divided.
func (m Machine) division() Finding {
	s, n := m.Split, len(m.Allowed)
	f := Finding{Level: Good, About: "cores",
		Seen: fmt.Sprintf("%d: server on %s, client on %s", n, cores.Format(s.Server), cores.Format(s.Client))}
	if len(s.Server) == 0 {
		f.Level, f.Seen = Limit, "one core, which server and client share"
		f.Means = "each disturbs the other, and no run can say whose CPU bounded it"
	}
	if online, err := cores.Parse(line(m.cpu("online"))); err == nil && len(online) > n {
		f.Seen += fmt.Sprintf("; %d of the machine's %d are allowed", n, len(online))
		if f.Level != Good {
			f.Mend = "run without taskset, or give the container more CPUs"
		}
	}
	return f
}

// siblings looks for hardware threads of one core that are on both sides, or half used by others. A
// virtual machine may show hardware threads as cores.
func (m Machine) siblings() Finding {
	f := Finding{Level: Good, About: "SMT", Seen: "no core has threads on both sides"}
	var both, outside []string
	shown := false
	for _, c := range m.Split.Server {
		threads, err := cores.Parse(line(m.cpu(fmt.Sprintf("cpu%d", c), "topology", "thread_siblings_list")))
		shown = shown || err == nil
		for _, t := range threads {
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
		f.Level, f.Seen = Limit, "server and client share cores: CPUs "+strings.Join(both, ", ")
		f.Means = "one slows the other by up to a half"
		f.Mend = "echo off | sudo tee " + m.cpu("smt", "control")
	case len(outside) > 0:
		f.Level, f.Seen = Limit, "the server's cores have threads that the lab may not use: "+strings.Join(outside, ", ")
		f.Means = "whoever runs there slows the server"
		f.Mend = "allow whole cores, in taskset or in the container's --cpuset-cpus"
	case !shown:
		f.Seen = notVisible
	}
	return f
}

// quota reports the CPU that the limit of a container or service leaves: that of the lab's control
// groups, from its own up to the top.
func (m Machine) quota() Finding {
	f := Finding{Level: Good, About: "CPU quota", Seen: "none"}
	q := cores.ReadQuota(m.Proc, m.Cgroup, "self")
	switch {
	case !q.Seen:
		f.Level, f.Seen = Limit, "not shown: no control group says whether a quota holds the lab back, and for how long"
		f.Means = "a block that may have been stopped unseen does not count"
		f.Mend = "mount the control groups at " + m.Cgroup +
			", or let a container see the host's (docker run --cgroupns=host)"
	case !math.IsInf(q.Cores, 1):
		f.Seen = fmt.Sprintf("%.2g cores, used up in %d periods so far", q.Cores, q.Stops)
		if q.Cores < float64(len(m.Allowed)) {
			f.Level, f.Means = Limit, "a block that is stopped by it does not count"
			f.Mend = "start the container or service without a CPU limit (docker run without --cpus; CPUQuota= in systemd)"
		}
	}
	return f
}

// governor finds out what sets the clock of the cores in use.
func (m Machine) governor() Finding {
	f := Finding{Level: Good, About: "governor", Seen: notVisible}
	var seen []string
	for _, c := range m.Allowed {
		g := line(m.cpu(fmt.Sprintf("cpu%d", c), "cpufreq", "scaling_governor"))
		if g != "" && !slices.Contains(seen, g) {
			seen = append(seen, g)
		}
	}
	if len(seen) == 0 {
		return f
	}
	f.Seen = strings.Join(seen, ", ")
	if f.Seen != "performance" {
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
		switch line(s.path) {
		case s.off:
			f.Seen = "off"
			return f
		case s.on:
			return Finding{Limit, f.About, "on", "the clock depends on how many cores are busy and how warm they are",
				fmt.Sprintf("echo %s | sudo tee %s", s.off, s.path)}
		}
	}
	return f
}

// fast has the clock sources that are read without a system call.
var fast = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase",
	"riscv_clocksource", "xen"}

func (m Machine) clock() Finding {
	dir := filepath.Join(m.Sys, "devices", "system", "clocksource", "clocksource0")
	f := Finding{Level: Good, About: "clock", Seen: line(dir, "current_clocksource")}
	switch {
	case f.Seen == "":
		f.Seen = "source not shown here"
	case !slices.Contains(fast, f.Seen):
		f.Level = Limit
		f.Means = "each look at the clock is a system call, which server and client pay for with each request"
		for _, s := range strings.Fields(line(dir, "available_clocksource")) {
			if slices.Contains(fast, s) {
				f.Mend = fmt.Sprintf("echo %s | sudo tee %s", s, filepath.Join(dir, "current_clocksource"))
				break
			}
		}
	}
	return f
}

// threads checks whether the kernel keeps the CPU time of threads; every kernel keeps that of processes.
// A kernel that does not has no file, or zeros in it.
func (m Machine) threads() Finding {
	f := Finding{Level: Good, About: "CPU time", Seen: "of processes and of threads"}
	if first, _, _ := strings.Cut(line(m.Proc, "self", "schedstat"), " "); first == "" || first == "0" {
		f.Level, f.Seen = Limit, "of processes, and not of threads: this kernel shows no schedstat"
		f.Means = "how busy the busiest thread of another's client was is not known, and so whether it was the bottleneck"
		if first == "0" {
			f.Mend = "sudo sysctl -w kernel.task_delayacct=1"
		}
	}
	return f
}

// groups tells whether the CPU time of a container or a service can be read.
func (m Machine) groups() Finding {
	for i, at := range []string{"cpuacct", "cgroup.controllers"} {
		if _, err := os.Stat(filepath.Join(m.Cgroup, at)); err == nil {
			return Finding{Level: Good, About: "cgroups", Seen: fmt.Sprintf("version %d, at %s", i+1, m.Cgroup)}
		}
	}
	return Finding{Limit, "cgroups", "none at " + m.Cgroup, "the CPU time of a container or a service is not known",
		"mount the control groups there"}
}

// sampling tells whether the kernel lets this user sample it.
func sampling() Finding {
	if why := kernel.Usable(); why != "" {
		return Finding{Level: Limit, About: "perf", Seen: why, Means: "how much of a server's CPU time is its client's " +
			"receiving is not told, and --why tells user space from the kernel alone"}
	}
	return Finding{Level: Good, About: "perf", Seen: "may sample the kernel"}
}

// ptrace traces a process of its own, up to its first instruction.
func (m Machine) ptrace() Finding {
	f := Finding{Level: Good, About: "ptrace", Seen: "of processes that it starts"}
	runtime.LockOSThread() // the kernel lets only this thread go on with it
	defer runtime.UnlockOSThread()
	traced := exec.Command("/proc/self/exe")
	traced.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	err := traced.Start()
	if err == nil {
		err = traced.Process.Kill()
		_ = traced.Wait() // it was killed
	}
	if err != nil {
		return Finding{Limit, f.About, err.Error(), "system calls are not counted",
			"allow it to a container: --cap-add=SYS_PTRACE"}
	}
	if m.sysctl("kernel.yama.ptrace_scope") == "0" || os.Geteuid() == 0 {
		f.Seen = "of processes that it starts, and of others by pid"
	}
	return f
}
