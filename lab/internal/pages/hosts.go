package pages

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Hosts has what the records of all hosts say about an experiment's claims, and
// what pages tell of them in words.
type Hosts struct {
	SchemaVersion int      `json:"schema_version"`
	Experiment    string   `json:"experiment"`
	Machines      []string `json:"machines"`            // the hosts with a record of any claim, sorted
	Shown         string   `json:"record,omitempty"`    // the run whose record pages show; empty without one
	Profiled      []string `json:"profiled,omitempty"`  // the runs to show profiles of, the first that has them
	Claims        []Summed `json:"claims"`              // in the experiment's order
	Withdrawn     []Gone   `json:"withdrawn,omitempty"` // the claims that no longer stand
	Design        Values   `json:"design"`              // the experiment's settings, levels and block
}

// A Summed is one claim over all hosts that measured it.
type Summed struct {
	ID        string                  `json:"id"`
	Whose     Whose                   `json:"whose"`
	Criterion string                  `json:"criterion"`       // what makes it hold
	Edge      string                  `json:"edge,omitempty"`  // its margin or bar
	Needs     string                  `json:"needs,omitempty"` // its preconditions
	Verdicts  map[verdict.Verdict]int `json:"verdicts"`        // number of hosts by their record's verdict
	Says      string                  `json:"says"`            // the same in a sentence

	// Own is the run whose record pages show: that of the experiment's shown machine or, if the
	// claim does not apply to it, of another.
	Own   string   `json:"own,omitempty"`
	Hosts []OnHost `json:"hosts"` // sorted by name
	// absent where no run decides it, or no commit had it before its first run
	Written *Written `json:"written,omitempty"`
}

// An OnHost is what one host's record says about a claim. The ratio is that of
// the comparison that decides; absent where there is none.
type OnHost struct {
	Host     string          `json:"host"` // the server's host
	Run      string          `json:"run"`  // the newest run, whose verdict file has the record
	Verdict  verdict.Verdict `json:"verdict"`
	Reason   string          `json:"reason,omitempty"`
	Blocks   int             `json:"blocks,omitempty"`
	Runs     int             `json:"runs,omitempty"`
	For      int             `json:"for,omitempty"`
	Against  int             `json:"against,omitempty"`
	Ratio    float64         `json:"ratio,omitempty"`
	Low      float64         `json:"low,omitempty"`
	High     float64         `json:"high,omitempty"`
	Text     string          `json:"text,omitempty"`     // the ratio as pages print it
	Interval string          `json:"interval,omitempty"` // its interval as pages print it
	Of       string          `json:"of,omitempty"`       // name of the comparison, where the claim has several
}

// A Made is a run's verdict file with the design that the run was made with.
type Made struct {
	*verdict.File
	Then *experiment.Experiment
}

// Over sums up a claim over hosts, from the newest verdict file of each that
// has the claim: a run decides only the claims that it was made with. It sorts them by their hosts.
// shown is the machine whose record pages show.
func Over(claim string, whose Whose, shown string, newest []*verdict.File) Summed {
	out := Summed{ID: claim, Whose: whose, Verdicts: map[verdict.Verdict]int{}, Hosts: []OnHost{}}
	slices.SortFunc(newest, func(a, b *verdict.File) int { return strings.Compare(a.Host, b.Host) })
	for _, f := range newest {
		c, _ := f.Claim(claim)
		on := OnHost{Host: f.Host, Run: f.Run, Verdict: c.Verdict, Reason: c.Reason,
			Blocks: c.Blocks, Runs: c.Runs, For: c.For, Against: c.Against}
		if e, ok := strict.Find(c.Effects, func(e verdict.Effect) bool { return e.Decides }); ok {
			on.Ratio, on.Low, on.High = e.Ratio, e.Low, e.High
			on.Text, on.Interval = e.Text, e.Interval
			if len(c.Effects) > 1 {
				on.Of = e.Names()
			}
		}
		out.Hosts = append(out.Hosts, on)
		out.Verdicts[c.Verdict]++
	}
	out.Own = own(newest, claim, shown)
	out.Says = out.says()
	return out
}

// OverHosts sums up all claims of an experiment as it is now, from the verdict
// files of all its runs. others are the blocks of the page's other experiments.
func OverHosts(x *experiment.Experiment, runs []Made, others Blocks) *Hosts {
	runs = oldestFirst(runs)
	records, blocks := records(runs)
	shown := blocks.Shown(others)
	out := &Hosts{SchemaVersion: verdict.Version, Experiment: x.Name, Machines: []string{},
		Profiled: withProfiles(runs, shown), Claims: []Summed{}}
	if f := records[shown]; f != nil {
		out.Shown = f.Run
	}
	machines := map[string]bool{}
	for _, c := range x.Claims {
		newest := map[string]*verdict.File{}
		for _, r := range runs {
			if _, ok := r.Claim(c.ID); ok {
				newest[r.Host] = r.File
				machines[r.Host] = true
			}
		}
		sum := Over(c.ID, Whose(c.Owner), shown, slices.Collect(maps.Values(newest)))
		sum.Criterion, sum.Needs, sum.Edge = criterionOf(c), needsOf(c.Needs), edgeOf(c)
		sum.Written = written(runs, c.ID)
		out.Claims = append(out.Claims, sum)
	}
	out.Machines = append(out.Machines, slices.Sorted(maps.Keys(machines))...)
	out.Withdrawn, out.Design = withdrawn(x, runs), designValues(x)
	return out
}

// says counts the hosts by verdict: "confirmed on 2 of 3 machines, open
// on 1".
func (s Summed) says() string {
	n := len(s.Hosts)
	if n == 0 {
		return "no machine has measured it yet"
	}
	var parts []string
	for _, v := range order {
		switch k := s.Verdicts[v]; {
		case k == 0:
		case len(parts) == 0:
			parts = append(parts, fmt.Sprintf("%s on %s of %s %s", v.Word(), words.Thousands(k), words.Thousands(n),
				words.Plural(n, "machine")))
		default:
			parts = append(parts, fmt.Sprintf("%s on %s", v.Word(), words.Thousands(k)))
		}
	}
	return strings.Join(parts, ", ")
}
