package machine

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Split divides a machine's cores between server and client, since on a common core each side would disturb the
// other. Two hardware threads of one core stay on one side. Both are empty on a machine with one core.
type Split struct {
	Server, Client []int
	Shared         []int // cores of both sides; empty if the sides are kept apart
}

// On gives the cores that each side runs on. Sides that are not kept apart both run on the shared cores.
func (s Split) On() (server, client []int) {
	if len(s.Server) == 0 {
		return s.Shared, s.Shared
	}
	return s.Server, s.Client
}

// Divide splits the allowed CPUs by cores, given as groups of siblings. The server gets the first half, and
// never the larger one: if the client is the bottleneck, the trial decides nothing.
func Divide(groups [][]int) Split {
	join := func(groups [][]int) []int { return slices.Sorted(slices.Values(slices.Concat(groups...))) }
	half := len(groups) / 2
	if half == 0 {
		return Split{Shared: join(groups)}
	}
	return Split{Server: join(groups[:half]), Client: join(groups[half:])}
}

// Groups returns the allowed CPUs grouped by core. sys is the directory of CPUs, /sys/devices/system/cpu on a
// real machine. If it does not list siblings, each CPU is a group of its own.
func Groups(sys string, allowed []int) (groups [][]int) {
	for _, cpu := range allowed {
		if slices.ContainsFunc(groups, func(g []int) bool { return slices.Contains(g, cpu) }) {
			continue
		}
		siblings, err := Parse(Read(sys, fmt.Sprintf("cpu%d/topology/thread_siblings_list", cpu)))
		if err != nil {
			siblings = []int{cpu}
		}
		groups = append(groups, slices.DeleteFunc(siblings, func(s int) bool { return !slices.Contains(allowed, s) }))
	}
	return groups
}

// Parse parses a list of CPUs as the kernel and taskset write it: "0-3,8".
func Parse(list string) ([]int, error) {
	var cpus []int
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b := a
		if err == nil && isRange {
			b, err = strconv.Atoi(last)
		}
		if err != nil || a < 0 || b < a || b > 1<<16 {
			return nil, fmt.Errorf("%q is not a list of CPUs", list)
		}
		for c := a; c <= b; c++ {
			cpus = append(cpus, c)
		}
	}
	return cpus, nil
}

// Mask writes the mask of some CPUs on a machine with that many possible ones, exactly as the
// kernel prints it back. It has a digit for each four possible CPUs, the highest first, and a comma
// between groups of 32 CPUs.
func Mask(cpus []int, possible int) (string, error) {
	const digits = 8 // of a group
	mask := new(big.Int)
	for _, c := range cpus {
		if c < 0 || c >= possible {
			return "", fmt.Errorf("there is no CPU %d: the last possible one is %d", c, possible-1)
		}
		mask.SetBit(mask, c, 1)
	}
	text := fmt.Sprintf("%0*x", (possible+3)/4, mask)
	for at := len(text) - digits; at > 0; at -= digits {
		text = text[:at] + "," + text[at:]
	}
	return text, nil
}

// Format writes a list of CPUs for taskset, with runs shortened.
func Format(cpus []int) string {
	var parts []string
	for len(cpus) > 0 {
		n := 1
		for n < len(cpus) && cpus[n] == cpus[0]+n {
			n++
		}
		part := strconv.Itoa(cpus[0])
		if n > 1 {
			part += "-" + strconv.Itoa(cpus[n-1])
		}
		parts, cpus = append(parts, part), cpus[n:]
	}
	return strings.Join(parts, ",")
}

// Here divides the cores that this process may use.
func Here() (Split, error) {
	allowed, err := Allowed()
	return Divide(Groups("/sys/devices/system/cpu", allowed)), err
}

// Read reads a small file, as of /proc or /sys; empty if it cannot be read.
func Read(elem ...string) string {
	text, _ := os.ReadFile(filepath.Join(elem...))
	return strings.TrimSpace(string(text))
}
