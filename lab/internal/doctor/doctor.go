// Package doctor says what keeps a machine from measuring, before anything is run on it.
//
// Each finding says what it saw, what that means, and how to mend it. The doctor needs no root,
// changes nothing, and measures nothing. Only the run can say what disturbed a block, and what
// bounded it.
package doctor

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
)

// A Level says how much a finding matters.
type Level string

// Good findings need nothing; limits keep something from being measured, or disturb it; faults end runs
// before they begin.
const (
	Good  Level = "ok"
	Limit Level = "limit"
	Fault Level = "fault"
)

// A Finding is one observation.
type Finding struct {
	Level Level
	About string
	Seen  string
	Means string // its effect; empty for Good
	Mend  string // command to type; empty if nothing can or need be done
}

// A Machine is the machine to examine.
type Machine struct {
	Split   cores.Split  // the division of its cores
	Allowed []int        // CPUs that this process may use
	Wire    func() error // says whether a wire can be made: wire.Try; nil: no try

	root string // empty, except in tests
}

// Findings are what the doctor can see here.
func (m Machine) Findings() (fs []Finding) {
	for _, look := range []struct {
		about string
		see   func(Machine) (seen, means, mend string) // what needs nothing has no meaning
	}{
		{"cores", Machine.division}, {"CPU quota", Machine.quota}, {"frequency", Machine.frequency}, {"perf", Machine.sampling},
		{"ptrace", Machine.ptrace}, {"wire", Machine.wire},
	} {
		f := Finding{Level: Good, About: look.about}
		if f.Seen, f.Means, f.Mend = look.see(m); f.Means != "" {
			f.Level = Limit
		}
		if f.Seen != "" {
			fs = append(fs, f)
		}
	}
	return fs
}

// Print writes findings for a reader: first what prevents or disturbs, the worst first, and last what is in
// order.
func Print(w io.Writer, fs []Finding) error {
	var b strings.Builder
	for _, level := range []Level{Fault, Limit, Good} {
		for _, f := range fs {
			if f.Level != level {
				continue
			}
			fmt.Fprintf(&b, "%-7s%-16s%s\n", f.Level, f.About, f.Seen)
			if f.Means != "" {
				fmt.Fprintf(&b, "%23s%s\n", "", f.Means)
			}
			if f.Mend != "" {
				fmt.Fprintf(&b, "%23sto mend it: %s\n", "", f.Mend)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const cpus = "/sys/devices/system/cpu/"

// division says how the cores would be divided.
func (m Machine) division() (seen, means, mend string) {
	seen = fmt.Sprintf("%d: server on %s, client on %s", len(m.Allowed), cores.Format(m.Split.Server), cores.Format(m.Split.Client))
	if len(m.Split.Server) == 0 {
		seen = "one core, which server and client share"
		means = "each disturbs the other, and no run can say whose CPU bounded it"
	}
	if online, err := cores.Parse(cores.Read(m.root, cpus+"online")); err == nil && len(online) > len(m.Allowed) {
		seen += fmt.Sprintf("; %d of the machine's %d are allowed", len(m.Allowed), len(online))
		if means != "" {
			mend = "run without taskset, or give the container more CPUs"
		}
	}
	return seen, means, mend
}

// quota reports the CPU that the limit of a container or service leaves: that of this process's control
// groups, from its own up to the top.
func (m Machine) quota() (seen, means, mend string) {
	const groups = "/sys/fs/cgroup"
	q := cores.ReadQuota(filepath.Join(m.root, "/proc"), filepath.Join(m.root, groups), "self")
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

// frequency finds out what sets the cores' clock. Most virtual machines do not show it.
func (m Machine) frequency() (seen, means, mend string) {
	const file = "cpufreq/scaling_governor"
	seen = cores.Read(m.root, cpus+"cpu0/"+file)
	if seen == "" || seen == "performance" {
		return seen, "", ""
	}
	return seen, "the clock follows the load, so that a light load costs more CPU time a request",
		"echo performance | sudo tee " + cpus + "cpu*/" + file
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
func (Machine) ptrace() (seen, means, mend string) {
	runtime.LockOSThread() // the kernel lets only this thread go on with it
	defer runtime.UnlockOSThread()
	traced := exec.Command("/proc/self/exe")
	traced.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	err := traced.Start()
	if err == nil {
		err = traced.Process.Kill()
		_ = traced.Wait() // a signal ended it
	}
	if err != nil {
		return err.Error(), "system calls are not counted", "allow it to a container: --cap-add=SYS_PTRACE"
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
		if cores.Read(m.root, "/proc/sys/"+strings.ReplaceAll(d.name, ".", "/")) == d.denies {
			by, mends = append(by, d.name+"="+d.denies), append(mends, "sudo sysctl -w "+d.name+"="+d.mend)
		}
	}
	if len(by) == 0 {
		return seen, means, "run on the machine itself, or in a container with --privileged"
	}
	return seen + ": " + strings.Join(by, ", "), means, strings.Join(mends, " && ")
}
