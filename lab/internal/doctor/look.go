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

// at is where a file of the machine lies.
func (m Machine) at(path string) string { return filepath.Join(cmp.Or(m.root, "/"), path) }

// line reads a short file of the machine; empty if there is none.
func (m Machine) line(path string) string {
	text, _ := os.ReadFile(m.at(path))
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

// siblings looks for cores of the server of which others may use a hardware thread.
func (m Machine) siblings() (seen, means, mend string) {
	var outside []string
	for _, c := range m.Split.Server {
		threads, err := cores.Parse(m.line(fmt.Sprintf("%scpu%d/topology/thread_siblings_list", cpus, c)))
		if err == nil {
			seen = "the server's cores are its own"
		}
		for _, t := range threads {
			if !slices.Contains(m.Allowed, t) {
				outside = append(outside, fmt.Sprint(t))
			}
		}
	}
	if len(outside) == 0 {
		return seen, "", ""
	}
	return "the server's cores have threads that it may not use: " + strings.Join(outside, ", "),
		"whoever runs there slows the server", "allow whole cores, in taskset or in the container's --cpuset-cpus"
}

// quota reports the CPU that the limit of a container or service leaves: that of this process's control
// groups, from its own up to the top.
func (m Machine) quota() (seen, means, mend string) {
	const groups = "/sys/fs/cgroup"
	q := cores.ReadQuota(m.at("/proc"), m.at(groups), "self")
	switch {
	case !q.Seen:
		return "not shown: no control group says whether a quota holds a server back, and for how long",
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

// frequency looks at what lets the cores' clock follow the load. Most virtual machines show nothing of it.
func (m Machine) frequency() (seen, means, mend string) {
	var all, mends []string
	for _, s := range []struct{ files, steady string }{
		{"cpu*/cpufreq/scaling_governor", "performance"}, {"intel_pstate/no_turbo", "1"}, {"cpufreq/boost", "0"},
	} {
		paths, _ := filepath.Glob(m.at(cpus + s.files))
		var values []string
		for _, path := range paths {
			text, _ := os.ReadFile(path)
			values = append(values, strings.TrimSpace(string(text)))
		}
		slices.Sort(values)
		if values = slices.Compact(values); len(values) == 0 {
			continue
		}
		all = append(all, filepath.Base(s.files)+" is "+strings.Join(values, " or "))
		if !slices.Equal(values, []string{s.steady}) {
			mends = append(mends, "echo "+s.steady+" | sudo tee "+cpus+s.files)
		}
	}
	if len(mends) > 0 {
		means = "the clock depends on the load and on how warm the cores are, so that a light load costs more CPU time a request"
	}
	return strings.Join(all, ", "), means, strings.Join(mends, " && ")
}

// fast has the clock sources that are read without a system call.
var fast = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase",
	"riscv_clocksource", "xen"}

func (m Machine) clock() (seen, means, mend string) {
	const dir = "/sys/devices/system/clocksource/clocksource0/"
	seen = m.line(dir + "current_clocksource")
	if seen == "" || slices.Contains(fast, seen) {
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

// wire tries to make a wire, since containers forbid namespaces without any setting. Where that fails, it names
// the kernel's settings that forbid them to users.
func (m Machine) wire() (seen, means, mend string) {
	if m.Wire == nil {
		return "", "", ""
	}
	err := m.Wire()
	if err == nil {
		return "a shaped wire between two namespaces can be made", "", ""
	}
	seen, means = err.Error(), "claims over a wire are not applicable"
	if strings.Contains(seen, "sch_tbf") {
		return seen, means, "sudo modprobe sch_tbf"
	}
	var by, mends []string
	for _, d := range []struct{ name, denies, mend string }{
		{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"}, {"kernel.unprivileged_userns_clone", "0", "1"},
		{"user.max_user_namespaces", "0", "10000"}, {"user.max_net_namespaces", "0", "10000"},
	} {
		if m.sysctl(d.name) == d.denies {
			by, mends = append(by, d.name+"="+d.denies), append(mends, "sudo sysctl -w "+d.name+"="+d.mend)
		}
	}
	if len(by) == 0 {
		return seen, means, "run on the machine itself, or in a container with --privileged"
	}
	return seen + ": " + strings.Join(by, ", "), means, strings.Join(mends, " && ")
}
