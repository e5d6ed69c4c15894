package machine

import (
	"fmt"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
)

// A Finding says what the doctor saw, what that means, and how to mend it.
type Finding struct {
	About string
	Seen  string
	Means string // what the lab cannot measure, or what disturbs it; empty if nothing
	Mend  string // command to type; empty if nothing can or need be done
}

// A doctor examines a machine.
type doctor struct {
	split Split
	try   func() error // says whether a wire can be made; nil: no try
	root  string       // empty, except in tests
}

// Examine finds what keeps this machine from measuring, before anything is run on it. It needs no root, changes
// nothing, and measures nothing: only a run can say what disturbed a block. try says whether a wire can be
// made; nil: no try.
func Examine(try func() error) ([]Finding, error) {
	split, err := Here()
	return doctor{split: split, try: try}.findings(), err
}

func (d doctor) findings() (all []Finding) {
	for _, look := range []struct {
		about string
		see   func(doctor) (seen, means, mend string) // nothing seen has no finding
	}{
		{"cores", doctor.cores}, {"CPU quota", doctor.quota}, {"frequency", doctor.frequency}, {"perf", doctor.sampling},
		{"ptrace", doctor.ptrace}, {"wire", doctor.wire},
	} {
		if seen, means, mend := look.see(d); seen != "" {
			all = append(all, Finding{look.about, seen, means, mend})
		}
	}
	return all
}

// Print writes findings for a reader: first what prevents or disturbs, and then what is in order.
func Print(w io.Writer, all []Finding) error {
	var limits, rest strings.Builder
	for _, f := range all {
		if f.Means == "" {
			fmt.Fprintf(&rest, "%-7s%-16s%s\n", "ok", f.About, f.Seen)
			continue
		}
		fmt.Fprintf(&limits, "%-7s%-16s%s\n%23s%s\n", "limit", f.About, f.Seen, "", f.Means)
		if f.Mend != "" {
			fmt.Fprintf(&limits, "%23sto mend it: %s\n", "", f.Mend)
		}
	}
	_, err := io.WriteString(w, limits.String()+rest.String())
	return err
}

const cpus = "/sys/devices/system/cpu/"

// cores says how the cores would be divided.
func (d doctor) cores() (seen, means, mend string) {
	allowed := len(d.split.Server) + len(d.split.Client) + len(d.split.Shared)
	seen = fmt.Sprintf("%d: server on %s, client on %s", allowed, Format(d.split.Server), Format(d.split.Client))
	if len(d.split.Server) == 0 {
		seen = "one core, which server and client share"
		means = "each disturbs the other, and no run can say whose CPU bounded it"
	}
	if online, err := Parse(Read(d.root, cpus+"online")); err == nil && len(online) > allowed {
		seen += fmt.Sprintf("; %d of the machine's %d are allowed", allowed, len(online))
		if means != "" {
			mend = "run without taskset, or give the container more CPUs"
		}
	}
	return seen, means, mend
}

// quota reports the CPU that the limit of a container or service leaves: that of this process's control
// groups, from its own up to the top.
func (d doctor) quota() (seen, means, mend string) {
	const groups = "/sys/fs/cgroup"
	q := ReadQuota(filepath.Join(d.root, "/proc"), filepath.Join(d.root, groups), "self")
	switch {
	case !q.Seen:
		return "not shown: no control group says whether a quota holds a server back, and for how long",
			"a block that may have been stopped unseen does not count",
			"mount the control groups at " + groups + ", or let a container see the host's (docker run --cgroupns=host)"
	case math.IsInf(q.Cores, 1):
		return "none", "", ""
	case q.Cores < float64(len(d.split.Server)+len(d.split.Client)+len(d.split.Shared)):
		means = "a block that is stopped by it does not count"
		mend = "start the container or service without a CPU limit (docker run without --cpus; CPUQuota= in systemd)"
	}
	return fmt.Sprintf("%.2g cores", q.Cores), means, mend
}

// frequency finds out what sets the cores' clock. Most virtual machines do not show it.
func (d doctor) frequency() (seen, means, mend string) {
	const file = "cpufreq/scaling_governor"
	seen = Read(d.root, cpus+"cpu0/"+file)
	if seen == "" || seen == "performance" {
		return seen, "", ""
	}
	return seen, "the clock follows the load, so that a light load costs more CPU time a request",
		"echo performance | sudo tee " + cpus + "cpu*/" + file
}

// sampling tells whether the kernel lets this user sample it.
func (doctor) sampling() (seen, means, mend string) {
	if why := kernel.Usable(); why != "" {
		return why, "how much of a server's CPU time is its client's receiving is not told, and --why tells user space from the " +
			"kernel alone", ""
	}
	return "may sample the kernel", "", ""
}

// ptrace traces a process of its own, up to its first instruction.
func (doctor) ptrace() (seen, means, mend string) {
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
func (d doctor) wire() (seen, means, mend string) {
	if d.try == nil {
		return "", "", ""
	}
	err := d.try()
	if err == nil {
		return "a shaped wire between two namespaces can be made", "", ""
	}
	seen, means = err.Error(), "claims over a wire are not applicable"
	if strings.Contains(seen, "sch_tbf") {
		return seen, means, "sudo modprobe sch_tbf"
	}
	var by, mends []string
	for _, s := range []struct{ name, denies, mend string }{
		{"kernel.apparmor_restrict_unprivileged_userns", "1", "0"}, {"kernel.unprivileged_userns_clone", "0", "1"},
		{"user.max_user_namespaces", "0", "10000"}, {"user.max_net_namespaces", "0", "10000"},
	} {
		if Read(d.root, "/proc/sys/"+strings.ReplaceAll(s.name, ".", "/")) == s.denies {
			by, mends = append(by, s.name+"="+s.denies), append(mends, "sudo sysctl -w "+s.name+"="+s.mend)
		}
	}
	if len(by) == 0 {
		return seen, means, "run on the machine itself, or in a container with --privileged"
	}
	return seen + ": " + strings.Join(by, ", "), means, strings.Join(mends, " && ")
}
