// Package host describes the machine of a run, and what the run was made with: kernel settings, tools,
// programs, and the commit.
//
// A description lists what the machine computes with, never its name or owner. It leaves out what
// nobody could find out, and never guesses. Only an unknown commit is "unknown", because its
// absence matters.
//
// The package detects mistakes, not forgery: a forger could as well write the results file by hand.
package host

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// Version is the schema version of profiles.
const Version = 2

// A Profile is one machine, or one kind of rented machine, in data/hosts.
// Unknown fields are absent.
type Profile struct {
	SchemaVersion  int     `json:"schema_version"`
	ID             string  `json:"id"`
	Name           string  `json:"name"`
	CPU            string  `json:"cpu,omitempty"`
	CPUVersion     string  `json:"cpu_version,omitempty"`
	Arch           string  `json:"arch,omitempty"`
	Cores          int     `json:"cores,omitempty"`
	Sockets        int     `json:"sockets,omitempty"`
	ThreadsPerCore int     `json:"threads_per_core,omitempty"`
	Caches         string  `json:"caches,omitempty"`
	MemoryBytes    int64   `json:"memory_bytes,omitempty"`
	OS             string  `json:"os,omitempty"`
	Kernel         string  `json:"kernel,omitempty"`
	Virtual        string  `json:"virtual,omitempty"`
	NIC            string  `json:"nic,omitempty"`
	NICQueues      int     `json:"nic_queues,omitempty"`
	LineRateBps    float64 `json:"line_rate_bps,omitempty"`
	Note           string  `json:"note,omitempty"`
}

// Same tells whether nothing says that two profiles are of different machines, whatever they are called.
// Memory and kernel may differ, since they change on one machine. What only one of them records is not
// compared, except for what every profile has.
func (p Profile) Same(q Profile) bool {
	text := func(a, b string) bool { return a == "" || b == "" || a == b }
	number := func(a, b int) bool { return a == 0 || b == 0 || a == b }
	return p.CPU == q.CPU && p.Arch == q.Arch && p.Cores == q.Cores && p.OS == q.OS && p.Virtual == q.Virtual &&
		p.NIC == q.NIC && p.NICQueues == q.NICQueues && p.LineRateBps == q.LineRateBps &&
		text(p.CPUVersion, q.CPUVersion) && number(p.Sockets, q.Sockets) && number(p.ThreadsPerCore, q.ThreadsPerCore) &&
		text(p.Caches, q.Caches)
}

// A Machine is the machine that the lab runs on.
type Machine struct {
	Profile // as its file in data/hosts would be
	// Drawn is why nothing tells this machine apart from others of its kind for good; empty if something does. The
	// id in the profile is then drawn, and lasts until the machine starts again.
	Drawn string
}

// Probe describes the machine whose files are below root: "/", except in tests.
//
// The id comes from what stays the same while the machine keeps its parts: its CPUs as the kernel numbers
// them, their caches, and the machine's own random id. The kernel, the memory, settings and tools are not in
// it, since they change on one machine; each run records them.
func Probe(root string) (*Machine, error) {
	p := Profile{SchemaVersion: Version, Arch: runtime.GOARCH, OS: runtime.GOOS}
	text, err := os.ReadFile(filepath.Join(root, "proc", "cpuinfo"))
	if err != nil {
		return nil, fmt.Errorf("only a Linux machine can be described, by its /proc: %w", err)
	}
	p.describe(string(text))
	p.topology(filepath.Join(root, "sys", "devices", "system", "cpu"))
	model := model(p.CPU, p.Arch)
	p.Name = fmt.Sprintf("%s, %d cores", model, p.Cores)

	own, why := ownID(root)
	m := &Machine{p, why}
	if own == "" {
		own = cmp.Or(line(root, bootID), rand.Text())
	}
	m.ID = fmt.Sprintf("%s-%dc-%s", slug(model), p.Cores, keyed(own, p.Arch, p.CPU, p.CPUVersion, strconv.Itoa(p.Cores),
		strconv.Itoa(p.Sockets), strconv.Itoa(p.ThreadsPerCore), p.Caches)[:8])
	return m, nil
}

// bootID has an id that the kernel draws at each start of the machine. All containers that run on it have
// the same.
const bootID = "proc/sys/kernel/random/boot_id"

// Boot tells one start of the machine from another by a keyed hash of the id that the kernel draws then;
// empty where there is none. A run records it, since a guest may have its random id from an image, and so nothing is
// surely one machine for longer.
func Boot(root string) string {
	if id := line(root, bootID); id != "" {
		return keyed(id, "boot")[:16]
	}
	return ""
}

var random = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ownID gives the random id that the system was given when it was installed, or says why there is none that
// is this machine's own. Every user can read it.
func ownID(root string) (id, why string) {
	const path = "/etc/machine-id"
	fs, _ := procfs.NewFS(filepath.Join(root, "proc"))
	mounts, _ := fs.GetMounts()
	// Docker and Podman leave a file in the root directory; others make it an overlay.
	container := exists(filepath.Join(root, ".dockerenv")) || exists(filepath.Join(root, "run/.containerenv")) ||
		slices.ContainsFunc(mounts, func(m *procfs.MountInfo) bool {
			return m.MountPoint == "/" && strings.Contains(m.FSType, "overlay")
		})
	switch id = line(root, path); {
	case !random.MatchString(id) || strings.Trim(id, "0") == "":
		return "", "it has no id in " + path
	case container:
		return "", path + " is of the container's image, and all containers of the image have the same"
	}
	return id, ""
}

// numbered has the fields of /proc/cpuinfo that tell models of CPUs apart, and that neither a kernel nor new
// microcode changes. Names are not enough: many hypervisors show one name for several models.
var numbered = []string{
	"vendor_id", "cpu family", "model", "stepping", // x86
	"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", // arm
}

// describe reads /proc/cpuinfo.
func (p *Profile) describe(cpuinfo string) {
	var versions []string
	for block := range strings.SplitSeq(cpuinfo, "\n\n") {
		if value(block, "processor") == "" {
			continue
		}
		p.Cores++
		p.CPU = cmp.Or(p.CPU, value(block, "model name"))
		called := strict.Map(numbered, func(field string) string { return value(block, field) })
		versions = append(versions, strings.Join(strict.Filter(called, func(v string) bool { return v != "" }), "/"))
		if slices.Contains(strings.Fields(value(block, "flags")), "hypervisor") {
			p.Virtual = "yes"
		}
	}
	p.Cores = cmp.Or(p.Cores, runtime.NumCPU())
	slices.Sort(versions)
	p.CPUVersion = strings.Join(slices.Compact(versions), ", ")
}

// topology reads how the CPUs share sockets, cores and caches. What the kernel does not show, as in some
// virtual machines, stays absent.
func (p *Profile) topology(dir string) {
	cpus, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*"))
	sockets, caches, counts := map[string]bool{}, map[[2]string]bool{}, map[string]int{}
	for _, cpu := range cpus {
		if id := line(cpu, "topology", "physical_package_id"); id != "" {
			sockets[id] = true
		}
		siblings, _ := machine.Parse(line(cpu, "topology", "thread_siblings_list"))
		p.ThreadsPerCore = max(p.ThreadsPerCore, len(siblings))
		indexes, _ := filepath.Glob(filepath.Join(cpu, "cache", "index[0-9]*"))
		for _, c := range indexes {
			kind := map[string]string{"Data": "d", "Instruction": "i"}[line(c, "type")]
			level, size := line(c, "level"), line(c, "size")
			what := fmt.Sprintf("L%s%s %s", level, kind, size)
			if one := [2]string{what, line(c, "shared_cpu_list")}; level != "" && size != "" && !caches[one] {
				caches[one] = true
				counts[what]++
			}
		}
	}
	p.Sockets = len(sockets)
	var all []string
	for what, n := range counts {
		all = append(all, fmt.Sprintf("%s x%d", what, n))
	}
	slices.Sort(all)
	p.Caches = strings.Join(all, ", ")
}

// keyed is a hash that only someone with the key could compute. Nobody can find the key by trying,
// and other programs' hashes differ. The manual page machine-id(5) asks for it in this form.
func keyed(key string, parts ...string) string {
	h := hmac.New(sha256.New, []byte(key))
	for _, s := range append([]string{"line-rate host 2"}, parts...) {
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

var (
	marks = regexp.MustCompile(`(?i)\((r|tm|c)\)|\bcpu\b|@.*$`)
	words = regexp.MustCompile(`[^a-z0-9]+`)
)

// model is the name of a CPU; on some architectures, such as arm64, it is unknown.
func model(cpu, arch string) string {
	if m := strings.Join(strings.Fields(marks.ReplaceAllString(cpu, " ")), " "); slug(m) != "" {
		return m
	}
	return arch + " processor"
}

func slug(s string) string {
	return strings.Trim(words.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

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

// Names names machines as pages do. Those of one model have their ids beside the name.
func Names(all map[string]*Profile) map[string]string {
	names := map[string]string{}
	for id, h := range all {
		names[id] = h.Name
		for other, o := range all {
			if other != id && o.Name == h.Name {
				names[id] = h.Name + " (" + id + ")"
			}
		}
	}
	return names
}
