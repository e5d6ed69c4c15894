package host

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// kernel names the settings that affect connections, queues and the
// distribution of work over cores.
var kernel = []string{
	"net.core.somaxconn",
	"net.core.netdev_max_backlog",
	"net.core.rps_sock_flow_entries",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_wmem",
}

// Kernel reads those settings, those that the lab's knobs turn, and what else may change between two runs on one
// machine: the kernel's version, its clock source, how it governs the CPU's
// clock, the microcode, and what it does about the CPU's vulnerabilities. The
// files are below root: "/", except in tests.
func Kernel(root string) map[string]string {
	set := tune.Values(root)
	read := func(name string, elem ...string) {
		if v := line(append([]string{root}, elem...)...); v != "" {
			set[name] = v
		}
	}
	for _, k := range kernel {
		read(k, "proc", "sys", strings.ReplaceAll(k, ".", "/"))
	}
	read("osrelease", "proc", "sys", "kernel", "osrelease")
	read("clocksource", "sys", "devices", "system", "clocksource", "clocksource0", "current_clocksource")
	cpu := []string{"sys", "devices", "system", "cpu"}
	read("scaling_governor", append(cpu, "cpu0", "cpufreq", "scaling_governor")...)
	read("transparent_hugepage", "sys", "kernel", "mm", "transparent_hugepage", "enabled")
	found, _ := filepath.Glob(filepath.Join(append(append([]string{root}, cpu...), "vulnerabilities", "*")...))
	for _, path := range found {
		// A CPU that is not affected costs nothing for it.
		if v := line(path); v != "" && v != "Not affected" {
			set["vulnerability."+filepath.Base(path)] = v
		}
	}
	text, _ := os.ReadFile(filepath.Join(root, "proc", "cpuinfo")) // without it no microcode is known
	if v := value(string(text), "microcode"); v != "" {
		set["microcode"] = v
	}
	var files unix.Rlimit // that a process started by the lab may open
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		set["nofile"] = fmt.Sprint(files.Cur)
	}
	return set
}

// line reads a small file, as of /proc or /sys, as one line; empty if it cannot be read.
func line(elem ...string) string {
	b, _ := os.ReadFile(filepath.Join(elem...))
	return strings.Join(strings.Fields(string(b)), " ")
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
	text, _ := os.ReadFile(filepath.Join(root, "proc", "meminfo")) // without it there is no number
	total, _, _ := strings.Cut(value(string(text), "MemTotal"), " ")
	kib, err := strconv.ParseFloat(total, 64)
	if err != nil {
		return 0
	}
	return int64(math.Ceil(kib/(1<<20))) << 30
}
