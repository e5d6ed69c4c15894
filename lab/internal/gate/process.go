package gate

import (
	"regexp"
	"strings"
)

// Another stands in place of a process's name that is not published.
const Another = "another process"

// published has the names of processes that results may hold, and why. What else
// runs on a machine is its owner's own affair: a browser or a company's agent
// by name would say whose machine it is, and helps no reader. The terminal shows
// the person at the machine every name.
var published = map[string]string{
	"lab":            "a second lab on the machine, that should have waited",
	"fiber_server":   "a server that an earlier run left behind",
	"null_server":    "a server that an earlier run left behind",
	"floor_server":   "a server that an earlier run left behind",
	"c_floor":        "a server that an earlier run left behind",
	"fanout_server":  "a server that an earlier run left behind",
	"fanout_floor":   "a server that an earlier run left behind",
	"event_reader":   "a load that an earlier run left behind",
	"event_sink":     "a server that an earlier run left behind",
	"http_load":      "a load that an earlier run left behind",
	"event_producer": "a load that an earlier run left behind",
	"node":           "autocannon's program: a load that an earlier run left behind",
}

// kernels has the classes of the kernel's own threads. They show what the kernel
// was busy with. The rest of such a name is left out: it may name a device.
var kernels = []string{"ksoftirqd", "kworker", "kswapd", "kcompactd", "khugepaged", "kthreadd", "migration",
	"rcu_preempt", "rcu_sched", "ksmd", "jbd2", "irq"}

// Process gives the name under which results and pages may show a process.
func Process(name string) string {
	if published[name] != "" {
		return name
	}
	class, _, _ := strings.Cut(name, "/")
	for _, k := range kernels {
		if class == k || strings.TrimRight(class, "0123456789") == k {
			return k
		}
	}
	return Another
}

// nextTo is how the detail of a closed OtherLoad ends.
var nextTo = regexp.MustCompile(`(most of it )(.+)( \(\d+\.\d+\))`)

// Public gives the detail of a closed gate as pages show it. Results that were
// made before names were left out hold them, and are never edited.
func Public(name, detail string) string {
	if name != OtherLoad {
		return detail
	}
	return nextTo.ReplaceAllStringFunc(detail, func(s string) string {
		m := nextTo.FindStringSubmatch(s)
		return m[1] + Process(m[2]) + m[3]
	})
}
