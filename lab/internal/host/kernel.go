package host

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// settings are the files of what affects connections, queues and the distribution of work over cores, and of
// what else may change between two runs on one machine. The name of one below /proc/sys is its path.
var settings = map[string]string{
	"osrelease":            "proc/sys/kernel/osrelease",
	"clocksource":          "sys/devices/system/clocksource/clocksource0/current_clocksource",
	"scaling_governor":     "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
	"transparent_hugepage": "sys/kernel/mm/transparent_hugepage/enabled",
	"net.core.somaxconn":   "", "net.core.netdev_max_backlog": "", "net.core.rps_sock_flow_entries": "",
	"net.ipv4.ip_local_port_range": "", "net.ipv4.tcp_congestion_control": "", "net.ipv4.tcp_fin_timeout": "",
	"net.ipv4.tcp_max_syn_backlog": "", "net.ipv4.tcp_rmem": "", "net.ipv4.tcp_tw_reuse": "", "net.ipv4.tcp_wmem": "",
}

// Kernel reads those settings, those that the lab's knobs turn, the microcode, and what the kernel does about
// the CPU's vulnerabilities. The files are below root: "/", except in tests.
func Kernel(root string) map[string]string {
	set := tune.Values(root)
	for name, path := range settings {
		set[name] = line(root, cmp.Or(path, "proc/sys/"+strings.ReplaceAll(name, ".", "/")))
	}
	found, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/cpu/vulnerabilities/*"))
	for _, path := range found {
		// A CPU that is not affected costs nothing for it.
		if v := line(path); v != "Not affected" {
			set["vulnerability."+filepath.Base(path)] = v
		}
	}
	set["microcode"] = value(machine.Read(root, "proc/cpuinfo"), "microcode")
	var files unix.Rlimit // that a process started by the lab may open
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		set["nofile"] = fmt.Sprint(files.Cur)
	}
	maps.DeleteFunc(set, func(_, v string) bool { return v == "" })
	return set
}

// line reads a small file, as of /proc or /sys, as one line; empty if it cannot be read.
func line(elem ...string) string {
	return strings.Join(strings.Fields(machine.Read(elem...)), " ")
}

// value is the first value of a key in lines of "key: value".
func value(text, key string) string {
	for _, l := range strings.Split(text, "\n") {
		if k, v, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(k) == key {
			return strings.Join(strings.Fields(v), " ")
		}
	}
	return ""
}

// Memory is how much memory is installed, in bytes; 0 if unknown. The kernel
// reserves some at boot, a little more or less each time. Rounding up to whole
// gibibytes gives the installed size.
func Memory(root string) int64 {
	var kib float64
	_, _ = fmt.Sscanf(value(machine.Read(root, "proc/meminfo"), "MemTotal"), "%f kB", &kib)
	return int64(math.Ceil(kib/(1<<20))) << 30
}
