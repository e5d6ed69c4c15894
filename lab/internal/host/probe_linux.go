package host

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"
)

// Probe describes the machine that it runs on. The id is computed from the
// profile, so an unchanged machine keeps its id, a changed one gets another,
// and the id does not reveal the owner.
func Probe() (*Profile, error) {
	p := &Profile{SchemaVersion: 1, Arch: runtime.GOARCH, OS: runtime.GOOS, Cores: runtime.NumCPU()}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, fmt.Errorf("this machine has no /proc to describe it by: %w", err)
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
		p.Cores = len(cpus)
		p.CPU = strings.Join(strings.Fields(cpus[0].ModelName), " ")
		for _, f := range cpus[0].Flags {
			if f == "hypervisor" {
				p.Virtual = "yes"
			}
		}
	}
	if mem, err := fs.Meminfo(); err == nil && mem.MemTotalBytes != nil {
		// The kernel reserves some memory at boot, a little more or less each time.
		// Rounding up to whole gibibytes gives the installed size.
		p.MemoryBytes = int64(math.Ceil(float64(*mem.MemTotalBytes)/(1<<30))) << 30
	}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		p.Kernel = strings.TrimSpace(string(release))
	}
	model := model(p.CPU, p.Arch)
	p.Name = fmt.Sprintf("%s, %d cores", model, p.Cores)
	p.ID = fmt.Sprintf("%s-%dc-%s", slug(model), p.Cores, p.digest())
	return p, nil
}

var (
	marks = regexp.MustCompile(`(?i)\((r|tm|c)\)|\bcpu\b|@.*$`)
	words = regexp.MustCompile(`[^a-z0-9]+`)
)

// model is the name of a CPU; on some architectures, such as arm64, it is
// unknown.
func model(cpu, arch string) string {
	if m := clean(cpu); slug(m) != "" {
		return m
	}
	return arch + " processor"
}

func clean(model string) string {
	return strings.Join(strings.Fields(marks.ReplaceAllString(model, " ")), " ")
}

func slug(s string) string {
	return strings.Trim(words.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

func (p Profile) digest() string {
	p.ID, p.Name = "", ""
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // a struct of scalars always marshals
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))[:8]
}
