package doctor

import (
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
)

// quota reports the CPU that the limit of a container or service leaves: that of the lab's
// control groups, from its own up to the top.
func (m Machine) quota() Finding {
	f := Finding{Level: Good, About: "CPU quota", Seen: "none"}
	q := cores.ReadQuota(m.Proc, m.Cgroup, "self")
	if !q.Seen {
		f.Spoils = true
		f.Level, f.Seen = Limit, "not shown: no control group says whether a quota holds the lab back, and for how long"
		f.Means = "a trial that may have been stopped unseen is invalid"
		f.Mend = "mount the control groups at " + m.Cgroup +
			", or let a container see the host's (docker run --cgroupns=host)"
		return f
	}
	if math.IsInf(q.Cores, 1) {
		return f
	}
	f.Seen = fmt.Sprintf("%.2g cores, used up in %d periods so far", q.Cores, q.Stops)
	if q.Cores >= float64(len(m.Allowed)) {
		return f
	}
	f.Level, f.Mend = Limit, "start the container or service without a CPU limit (docker run without --cpus; CPUQuota= "+
		"in systemd)"
	f.Means = "a trial that is stopped by it is invalid"
	f.Bars = m.needs(func(n experiment.Demands) bool { return float64(n.Cores) > q.Cores })
	return f
}

// openFiles checks the hard limit. The soft limit does not matter: both Go's
// and Node's runtimes raise theirs to the hard limit at start.
func (m Machine) openFiles() Finding {
	f := Finding{Level: Good, About: "open files"}
	var soft, hard int64 // of this process, whose runtime has raised the soft one
	_, shown, _ := strings.Cut(host.Line(m.Proc, "self", "limits"), "Max open files ")
	if _, err := fmt.Sscan(shown, &soft, &hard); err != nil {
		f.Seen = "no limit is shown here"
		return f
	}
	f.Seen = fmt.Sprintf("hard limit %d, to which server and client raise their own", hard)
	if out, err := exec.Command("sh", "-c", "ulimit -Sn").Output(); err == nil {
		f.Seen = fmt.Sprintf("soft limit %s, hard limit %d, to which server and client raise their own",
			strings.TrimSpace(string(out)), hard)
	}
	if largest := m.over("", hard-experiment.FilesBeside); largest > 0 {
		f.Level, f.Bars = Limit, true
		f.Means = fmt.Sprintf("up to %d connections do not fit, and their trials are invalid", largest)
		f.Mend = fmt.Sprintf("sudo prlimit --pid $$ --nofile=%d:%d", 2*largest, 2*largest)
	}
	return f
}

// ports compares the connections of each experiment over loopback with the
// ports for clients. A wire's new namespaces have the kernel's defaults
// instead.
func (m Machine) ports() Finding {
	f := Finding{Level: Good, About: "ports", Seen: "the range is not shown here"}
	text := m.sysctl("net.ipv4.ip_local_port_range")
	var from, to int64
	if _, err := fmt.Sscan(text, &from, &to); err != nil {
		return f
	}
	n := to - from + 1
	f.Seen = fmt.Sprintf("%d to %d: %d connections of a client to a server at most", from, to, n)
	if largest := m.over("loopback", n); largest > 0 {
		f.Level, f.Bars = Limit, true
		f.Means = fmt.Sprintf("up to %d connections find no port, and their trials are invalid", largest)
		f.Mend = `sudo sysctl -w net.ipv4.ip_local_port_range="10240 65000"`
	}
	return f
}

// acceptQueue concerns the moment when all connections of a trial are opened.
func (m Machine) acceptQueue() Finding {
	return m.queue("somaxconn", "net.core.somaxconn", 1,
		"connections that come at once overflow the accept queue and come again a second later")
}

// synQueue is limited by tcp_max_syn_backlog only if SYN cookies are off, and
// then to three quarters of it. Otherwise it is as long as the accept queue.
func (m Machine) synQueue() Finding {
	const name = "net.ipv4.tcp_max_syn_backlog"
	if m.sysctl("net.ipv4.tcp_syncookies") != "0" {
		f := Finding{Level: Good, About: "SYN backlog", Seen: "not shown here"}
		if n := m.sysctl(name); n != "" {
			f.Seen = n + ", which does not bind while SYN cookies are on"
		}
		return f
	}
	return m.queue("SYN backlog", name, 0.75,
		"without SYN cookies, connections that come at once are dropped and come again a second later")
}

func (m Machine) queue(about, name string, share float64, means string) Finding {
	f := Finding{Level: Good, About: about, Seen: "not shown here"}
	n, err := strconv.ParseInt(m.sysctl(name), 10, 64)
	if err != nil {
		return f
	}
	f.Seen = strconv.FormatInt(n, 10)
	if largest := m.over("loopback", int64(share*float64(n))); largest > 0 {
		f.Level, f.Means = Limit, means
		f.Mend = fmt.Sprintf("sudo sysctl -w %s=%d", name, 2*largest)
	}
	return f
}

// enough is the memory that a run may need, in bytes: some hundred megabytes
// for a load generator, and a few dozen for each of the server's workers.
const enough = 512 << 20

func (m Machine) memory() Finding {
	f := Finding{Level: Good, About: "memory", Seen: "not shown here"}
	fs, err := procfs.NewFS(m.Proc)
	if err != nil {
		return f
	}
	info, err := fs.Meminfo()
	if err != nil || info.MemAvailableBytes == nil {
		return f
	}
	f.Seen = size(*info.MemAvailableBytes) + " available"
	if *info.MemAvailableBytes < enough {
		f.Level, f.Mend = Limit, "stop what holds it: ps -eo rss,comm --sort -rss | head"
		f.Means = fmt.Sprintf("under %s a run may swap, or be killed", size(enough))
	}
	return f
}

// swap matters when pages move. Unused swap costs nothing, but it is named all
// the same: watching an idle machine says little about a loaded one.
func (m Machine) swap() Finding {
	f := Finding{Level: Good, About: "swap", Seen: "not shown here"}
	fs, err := procfs.NewFS(m.Proc)
	if err != nil {
		return f
	}
	swaps, err := fs.Swaps()
	switch {
	case err != nil:
		return f
	case len(swaps) == 0:
		f.Seen = "none"
		return f
	}
	var all, used uint64
	for _, s := range swaps {
		all, used = all+uint64(s.Size)<<10, used+uint64(s.Used)<<10
	}
	f.Seen = fmt.Sprintf("%s, of which %s used", size(all), size(used))
	return f
}

func size(bytes uint64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
