package experiment

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Demands are what it takes to measure a design and to decide a claim of it.
type Demands struct {
	Cores    int   // logical CPUs of the server's host; 0 if any number will do
	Fleet    bool  // whether one machine is not enough
	Wire     bool  // whether it is for a wire between two network namespaces
	LineRate bool  // whether the claim needs a known line rate
	Root     bool  // whether it changes kernel settings that only root may change
	Files    int64 // that server and client each have open
}

// FilesBeside is how many files a process of the lab has open apart from
// connections.
const FilesBeside = 64

// Needs gives what it takes to decide a claim.
func (x *Experiment) Needs(c Claim) Demands {
	d := x.demands()
	d.Cores, d.LineRate = max(d.Cores, c.Needs.Cores), c.Needs.LineRate
	if x.locks != nil {
		d.Cores = x.locks.Claims[c.ID].Cores
	}
	return d
}

// Least gives what it takes to decide any of the claims: with less, a run could decide
// nothing.
func (x *Experiment) Least() Demands {
	least := x.Needs(x.Claims[0])
	for _, c := range x.Claims[1:] {
		least.Cores = min(least.Cores, x.Needs(c).Cores)
	}
	least.LineRate = false // without one, a run still shows its figures
	return least
}

// Lacks says what a machine lacks of it, and the link over which it is loaded, each to
// continue "the claim".
func (d Demands) Lacks(cores int, link Topology) (why []string) {
	if d.Cores > cores {
		why = append(why, fmt.Sprintf("needs %d cores; this machine has %d", d.Cores, cores))
	}
	if d.LineRate && link.LineRateBps == 0 {
		why = append(why, fmt.Sprintf("needs a wire of known line rate; this run went over %s", link.Kind))
	}
	return why
}

// demands gives what all claims of the design need.
func (x *Experiment) demands() Demands {
	d := Demands{
		Cores: x.cores(), Fleet: x.Topology.Kind == "fleet", Wire: x.Topology.Kind == "netns",
		Files: FilesBeside + x.Connections(),
	}
	for _, levels := range x.Conditions() {
		d.Root = d.Root || len(Turns(x.fixed.With(levels))) > 0
	}
	return d
}

// Connections is the largest number of connections that the design opens at once.
func (x *Experiment) Connections() (most int64) {
	for _, levels := range x.Conditions() {
		if n, ok := x.fixed.With(levels)[setting.Connections].Int(); ok {
			most = max(most, n)
		}
	}
	return most
}

// cores is how many logical CPUs of the server's machine the design uses: up to
// the highest that its server may use, and one more if interrupts are pinned
// and the server leaves none of these free. 0 if the design names none.
func (x *Experiment) cores() int {
	var used []int
	n, least, pinned := 0, 0, false
	for _, levels := range x.Conditions() {
		all := x.fixed.With(levels)
		pinned = pinned || all[setting.IRQ] == setting.String("pinned")
		list, ok := all[setting.ServerCPUs]
		if !ok {
			continue
		}
		cpus, err := cores.Parse(list.String())
		if err != nil {
			continue // refused when it is parsed
		}
		used = append(used, cpus...)
		if n = max(n, slices.Max(used)+1); least == 0 || len(cpus) < least {
			least = len(cpus)
		}
	}
	if slices.Sort(used); pinned && n > 0 && least == len(slices.Compact(used)) {
		n++
	}
	return n
}
