package doctor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/profile/kernel"
)

// Comparing says what a comparison of servers can do on a machine, whatever the journal claims.
func (m Machine) Comparing() []Finding {
	m = m.located()
	m.Experiments = nil
	fs := []Finding{m.division(), m.siblings(), m.quota(), m.governor(), m.turbo(), m.clock(), m.schedstat(), m.groups(),
		sampling(), m.ptrace()}
	fs = append(fs, m.wires()...)
	for i := range fs {
		if f := &fs[i]; f.About == "wire" && f.Level != Good {
			f.Level, f.Means = Limit, "--line-rate is refused; without it servers are loaded over loopback"
		}
	}
	return fs
}

// groups tells whether the CPU time of a container or a service can be read.
func (m Machine) groups() Finding {
	f := Finding{Level: Good, About: "cgroups"}
	for i, at := range []string{"cpuacct", "cgroup.controllers"} {
		if _, err := os.Stat(filepath.Join(m.Cgroup, at)); err == nil {
			f.Seen = fmt.Sprintf("version %d, at %s", i+1, m.Cgroup)
			return f
		}
	}
	f.Level, f.Seen = Limit, "none at "+m.Cgroup
	f.Means, f.Mend = "the CPU time of a container or a service is not known", "mount the control groups there"
	return f
}

// sampling tells whether the kernel lets this user sample it.
func sampling() Finding {
	if why := kernel.Usable(); why != "" {
		return Finding{Level: Limit, About: "perf", Seen: why,
			Means: "how much of a server's CPU time is its client's receiving is not told, and --why profiles only Go servers with net/http/pprof"}
	}
	return Finding{Level: Good, About: "perf", Seen: "may sample the kernel"}
}

// ptrace traces a process of its own, up to its first instruction.
func (m Machine) ptrace() Finding {
	f := Finding{Level: Good, About: "ptrace", Seen: "of processes that it starts"}
	runtime.LockOSThread() // the kernel lets only this thread go on with it
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err == nil {
		traced := exec.Command(self)
		traced.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		if err = traced.Start(); err == nil {
			err = traced.Process.Kill()
			_ = traced.Wait() // it was killed
		}
	}
	if err != nil {
		f.Level, f.Seen = Limit, err.Error()
		f.Means, f.Mend = "system calls are not counted", "allow it to a container: --cap-add=SYS_PTRACE"
	} else if m.sysctl("kernel.yama.ptrace_scope") == "0" || os.Geteuid() == 0 {
		f.Seen = "of processes that it starts, and of others by pid"
	}
	return f
}
