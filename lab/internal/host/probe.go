package host

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A Machine is the machine that the lab runs on.
type Machine struct {
	Profile        // as its file in data/hosts would be
	From    string // what the id is made from, in words
	// Alone is why nothing tells this machine apart from others of its kind for
	// good; empty if its own id does. The id in the profile is then drawn, and lasts
	// until the machine starts again.
	Alone string
	// Kind is why the profile has no mark: nothing says that two starts of such a
	// machine are of one. Empty where it has one.
	Kind string
}

// Probe describes the machine whose files are below root: "/", except in tests.
//
// The id is made from what stays the same for as long as the machine computes
// with the same parts: its CPUs as the kernel numbers them, their caches, and
// the machine's own random id. The kernel, the memory, settings and tools are
// not in it, since they change on one machine; each run records them.
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

	m := &Machine{Profile: p}
	own, why := ownID(root)
	key, of := own, "its machine-id, from which only a keyed hash is kept"
	if own == nil {
		m.Alone, m.Kind = why, why
		key, of = []byte(cmp.Or(Line(root, bootID), rand.Text())), "a draw at its last start"
	} else {
		m.Mark, m.Kind = p.mark(root, own)
	}
	parts := []string{p.Arch, p.CPU, p.CPUVersion, strconv.Itoa(p.Cores), strconv.Itoa(p.Sockets),
		strconv.Itoa(p.ThreadsPerCore), p.Caches}
	m.ID = fmt.Sprintf("%s-%dc-%s", slug(model), p.Cores, keyed(key, parts...)[:8])
	m.From = strings.Join(append(p.parts(), of), "; ")
	return m, nil
}

// parts names what the machine computes with.
func (p Profile) parts() []string {
	cpu := model(p.CPU, p.Arch)
	if p.CPUVersion != "" {
		cpu += " (" + p.CPUVersion + ")"
	}
	all := fmt.Sprintf("%d cores", p.Cores)
	if p.Sockets > 0 {
		all += fmt.Sprintf(" in %d %s", p.Sockets, map[bool]string{true: "socket", false: "sockets"}[p.Sockets == 1])
	}
	if p.ThreadsPerCore > 1 {
		all += fmt.Sprintf(", %d threads a core", p.ThreadsPerCore)
	}
	out := []string{cpu, all}
	if p.Caches != "" {
		out = append(out, "caches "+p.Caches)
	}
	return out
}

// numbered has the fields of /proc/cpuinfo that tell models of CPUs apart, and
// that neither a kernel nor new microcode changes. Names are not enough: many
// hypervisors show one name for several models.
var numbered = []string{
	"vendor_id", "cpu family", "model", "stepping", // x86
	"CPU implementer", "CPU architecture", "CPU variant", "CPU part", "CPU revision", // arm
}

// describe reads /proc/cpuinfo.
func (p *Profile) describe(cpuinfo string) {
	versions := map[string]bool{}
	for _, block := range strings.Split(cpuinfo, "\n\n") {
		if value(block, "processor") == "" {
			continue
		}
		p.Cores++
		p.CPU = cmp.Or(p.CPU, value(block, "model name"))
		var version []string
		for _, k := range numbered {
			if v := value(block, k); v != "" {
				version = append(version, v)
			}
		}
		if len(version) > 0 {
			versions[strings.Join(version, "/")] = true
		}
		if slices.Contains(strings.Fields(value(block, "flags")), "hypervisor") {
			p.Virtual = "yes"
		}
	}
	p.Cores = cmp.Or(p.Cores, runtime.NumCPU())
	p.CPUVersion = strings.Join(slices.Sorted(maps.Keys(versions)), ", ")
}

// topology reads how the CPUs share sockets, cores and caches. What the kernel
// does not show, as in some virtual machines, stays absent.
func (p *Profile) topology(dir string) {
	cpus, _ := filepath.Glob(filepath.Join(dir, "cpu[0-9]*"))
	sockets, caches := map[string]bool{}, map[string]map[string]bool{}
	for _, cpu := range cpus {
		if id := Line(cpu, "topology", "physical_package_id"); id != "" {
			sockets[id] = true
		}
		siblings, _ := cores.Parse(Line(cpu, "topology", "thread_siblings_list"))
		p.ThreadsPerCore = max(p.ThreadsPerCore, len(siblings))
		indexes, _ := filepath.Glob(filepath.Join(cpu, "cache", "index[0-9]*"))
		for _, c := range indexes {
			level, size, shared := Line(c, "level"), Line(c, "size"), Line(c, "shared_cpu_list")
			if level == "" || size == "" {
				continue
			}
			kind := map[string]string{"Data": "d", "Instruction": "i"}[Line(c, "type")]
			what := fmt.Sprintf("L%s%s %s", level, kind, size)
			if caches[what] == nil {
				caches[what] = map[string]bool{}
			}
			caches[what][shared] = true
		}
	}
	p.Sockets = len(sockets)
	var all []string
	for what, each := range caches {
		all = append(all, fmt.Sprintf("%s x%d", what, len(each)))
	}
	slices.Sort(all)
	p.Caches = strings.Join(all, ", ")
}

// Line reads a small file, as of /proc or /sys, as one line; empty if it cannot be read.
func Line(elem ...string) string {
	b, _ := os.ReadFile(filepath.Join(elem...))
	return strings.Join(strings.Fields(string(b)), " ")
}

// keyed is a hash that only someone who has the key could compute, so the key
// cannot be found by trying, and other programs' hashes of it differ. The manual
// page machine-id(5) asks for it in this form.
func keyed(key []byte, parts ...string) string {
	h := hmac.New(sha256.New, key)
	for _, s := range append([]string{"line-rate host 2"}, parts...) {
		fmt.Fprintf(h, "%d %s\n", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

var (
	marks = regexp.MustCompile(`(?i)\((r|tm|c)\)|\bcpu\b|@.*$`)
	words = regexp.MustCompile(`[^a-z0-9]+`)
)

// model is the name of a CPU; on some architectures, such as arm64, it is
// unknown.
func model(cpu, arch string) string {
	if m := strings.Join(strings.Fields(marks.ReplaceAllString(cpu, " ")), " "); slug(m) != "" {
		return m
	}
	return arch + " processor"
}

func slug(s string) string {
	return strings.Trim(words.ReplaceAllString(strings.ToLower(s), "-"), "-")
}
