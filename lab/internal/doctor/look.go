package doctor

import (
	"cmp"
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

// line reads a short file of the machine; empty if there is none.
func (m Machine) line(path string) string {
	text, _ := os.ReadFile(filepath.Join(cmp.Or(m.root, "/"), path))
	return strings.Join(strings.Fields(string(text)), " ")
}

const cpus = "/sys/devices/system/cpu/"

// sysctl reads a setting by its name.
func (m Machine) sysctl(name string) string {
	return m.line("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
}

// division says how the cores would be divided.
func (m Machine) division() (seen, means, mend string) {
	seen = fmt.Sprintf("%d: server on %s, client on %s", len(m.Allowed), cores.Format(m.Split.Server), cores.Format(m.Split.Client))
	if len(m.Split.Server) == 0 {
		seen = "one core, which server and client share"
		means = "each disturbs the other, and no run can say whose CPU bounded it"
	}
	if online, err := cores.Parse(m.line(cpus + "online")); err == nil && len(online) > len(m.Allowed) {
		seen += fmt.Sprintf("; %d of the machine's %d are allowed", len(m.Allowed), len(online))
		if means != "" {
			mend = "run without taskset, or give the container more CPUs"
		}
	}
	return seen, means, mend
}

// siblings looks for hardware threads of one core that are on both sides, or half used by others. A
// virtual machine may show hardware threads as cores.
func (m Machine) siblings() (seen, means, mend string) {
	var both, outside []string
	seen = notVisible
	for _, c := range m.Split.Server {
		threads, err := cores.Parse(m.line(fmt.Sprintf("%scpu%d/topology/thread_siblings_list", cpus, c)))
		if err == nil {
			seen = "no core has threads on both sides"
		}
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
		return "server and client share cores: CPUs " + strings.Join(both, ", "), "one slows the other by up to a half",
			"echo off | sudo tee " + cpus + "smt/control"
	case len(outside) > 0:
		return "the server's cores have threads that the lab may not use: " + strings.Join(outside, ", "),
			"whoever runs there slows the server", "allow whole cores, in taskset or in the container's --cpuset-cpus"
	}
	return seen, "", ""
}

// quota reports the CPU that the limit of a container or service leaves: that of the lab's control
// groups, from its own up to the top.
func (m Machine) quota() (seen, means, mend string) {
	const groups = "/sys/fs/cgroup"
	q := cores.ReadQuota(filepath.Join(m.root, "/proc"), filepath.Join(m.root, groups), "self")
	switch {
	case !q.Seen:
		return "not shown: no control group says whether a quota holds the lab back, and for how long",
			"a block that may have been stopped unseen does not count",
			"mount the control groups at " + groups + ", or let a container see the host's (docker run --cgroupns=host)"
	case math.IsInf(q.Cores, 1):
		return "none", "", ""
	case q.Cores < float64(len(m.Allowed)):
		means = "a block that is stopped by it does not count"
		mend = "start the container or service without a CPU limit (docker run without --cpus; CPUQuota= in systemd)"
	}
	return fmt.Sprintf("%.2g cores", q.Cores), means, mend
}

// governor finds out what sets the clock of the cores in use.
func (m Machine) governor() (seen, means, mend string) {
	var all []string
	for _, c := range m.Allowed {
		all = append(all, m.line(fmt.Sprintf("%scpu%d/cpufreq/scaling_governor", cpus, c)))
	}
	slices.Sort(all)
	switch seen = strings.Trim(strings.Join(slices.Compact(all), ", "), ", "); seen {
	case "":
		return notVisible, "", ""
	case "performance":
		return seen, "", ""
	}
	return seen, "the clock follows the load, so that a light load costs more CPU time a request",
		"echo performance | sudo tee " + cpus + "cpu*/cpufreq/scaling_governor"
}

// turbo tells whether the clock may rise while few cores are busy and cool.
func (m Machine) turbo() (seen, means, mend string) {
	for _, s := range []struct{ path, on, off string }{{cpus + "intel_pstate/no_turbo", "0", "1"}, {cpus + "cpufreq/boost", "1", "0"}} {
		switch m.line(s.path) {
		case s.off:
			return "off", "", ""
		case s.on:
			return "on", "the clock depends on how many cores are busy and how warm they are",
				fmt.Sprintf("echo %s | sudo tee %s", s.off, s.path)
		}
	}
	return notVisible, "", ""
}

// fast has the clock sources that are read without a system call.
var fast = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase",
	"riscv_clocksource", "xen"}

func (m Machine) clock() (seen, means, mend string) {
	const dir = "/sys/devices/system/clocksource/clocksource0/"
	seen = cmp.Or(m.line(dir+"current_clocksource"), "source not shown here")
	if slices.Contains(fast, seen) || strings.Contains(seen, "not shown") {
		return seen, "", ""
	}
	for s := range strings.FieldsSeq(m.line(dir + "available_clocksource")) {
		if slices.Contains(fast, s) {
			mend = fmt.Sprintf("echo %s | sudo tee %scurrent_clocksource", s, dir)
		}
	}
	return seen, "each look at the clock is a system call, which server and client pay for with each request", mend
}

// sampling tells whether the kernel lets this user sample it.
func (Machine) sampling() (seen, means, mend string) {
	if why := kernel.Usable(); why != "" {
		return why, "how much of a server's CPU time is its client's receiving is not told, and --why tells user space from the " +
			"kernel alone", ""
	}
	return "may sample the kernel", "", ""
}

// ptrace traces a process of its own, up to its first instruction.
func (m Machine) ptrace() (seen, means, mend string) {
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
		return err.Error(), "system calls are not counted", "allow it to a container: --cap-add=SYS_PTRACE"
	}
	if m.sysctl("kernel.yama.ptrace_scope") == "0" || os.Geteuid() == 0 {
		return "of processes that it starts, and of others by pid", "", ""
	}
	return "of processes that it starts", "", ""
}

// wire tries to make a wire. Only the attempt decides, since containers forbid namespaces without any setting.
func (m Machine) wire() (seen, means, mend string) {
	if err := m.Wire(); err != nil {
		return m.wireless(err)
	}
	return "a shaped wire between two namespaces can be made", "", ""
}

// wireless names the kernel settings that forbid namespaces to users.
func (m Machine) wireless(err error) (seen, means, mend string) {
	seen, means = err.Error(), "claims over a wire are not applicable"
	var by, mends []string
	for _, d := range []struct{ name, denies, mend string }{
		{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"}, {"kernel.unprivileged_userns_clone", "0", "1"},
		{"user.max_user_namespaces", "0", "10000"}, {"user.max_net_namespaces", "0", "10000"},
	} {
		if m.sysctl(d.name) == d.denies {
			by, mends = append(by, d.name+"="+d.denies), append(mends, "sudo sysctl -w "+d.name+"="+d.mend)
		}
	}
	switch {
	case strings.Contains(seen, "sch_tbf"):
		return seen, means, "sudo modprobe sch_tbf"
	case len(by) > 0:
		return seen + ": " + strings.Join(by, ", "), means, strings.Join(mends, " && ")
	}
	return seen, means, "run on the machine itself, or in a container with --privileged"
}

// enough compares an amount with what experiments with many connections need, and a run of any.
func enough(has, least int64, err error, format, means, mend string) (string, string, string) {
	switch {
	case err != nil:
		return "not shown here", "", ""
	case has >= least:
		return fmt.Sprintf(format, has), "", ""
	}
	return fmt.Sprintf(format, has), means, mend
}

// files looks at the hard limit: Go's and Node's runtimes raise the soft one to it.
func (m Machine) files() (seen, means, mend string) {
	var soft, hard int64
	_, text, _ := strings.Cut(m.line("/proc/self/limits"), "Max open files ")
	_, err := fmt.Sscan(text, &soft, &hard)
	return enough(hard, 4096, err, "%d at the most", "experiments with many connections do not fit",
		"sudo prlimit --pid $$ --nofile=8192:8192")
}

func (m Machine) ports() (seen, means, mend string) {
	var from, to int64
	_, err := fmt.Sscan(m.sysctl("net.ipv4.ip_local_port_range"), &from, &to)
	return enough(to-from+1, 8192, err, "%d connections of a client to a server at the most",
		"experiments with many connections find no port", `sudo sysctl -w net.ipv4.ip_local_port_range="10240 65000"`)
}

func (m Machine) queue() (seen, means, mend string) {
	var most int64
	_, err := fmt.Sscan(m.sysctl("net.core.somaxconn"), &most)
	return enough(most, 1024, err, "%d", "connections that come at once overflow the accept queue and come again a second later",
		"sudo sysctl -w net.core.somaxconn=4096")
}
