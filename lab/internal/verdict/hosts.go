package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// Hosts has what the records of all hosts say about an experiment's claims, for
// pages.
type Hosts struct {
	SchemaVersion int      `json:"schema_version"`
	Experiment    string   `json:"experiment"`
	Claims        []Summed `json:"claims"` // in the experiment's order
}

// A Summed is one claim over all hosts that measured it.
type Summed struct {
	ID       string          `json:"id"`
	Verdicts map[Verdict]int `json:"verdicts"`        // number of hosts by their record's verdict
	Says     string          `json:"says"`            // the same in a sentence
	Agree    string          `json:"agree,omitempty"` // how far the hosts' ratios agree; absent where fewer than two have an interval
	Apart    []string        `json:"apart,omitempty"` // hosts whose interval is disjoint from those of most others
	Hosts    []OnHost        `json:"hosts"`           // sorted by name
}

// An OnHost is what one host's record says about a claim. The ratio is that of
// the comparison that decides; absent where there is none.
type OnHost struct {
	Host       string  `json:"host"` // the server's host
	ClientHost string  `json:"client_host"`
	Run        string  `json:"run"` // the newest run, whose verdict file has the record
	Verdict    Verdict `json:"verdict"`
	Reason     string  `json:"reason"`
	Blocks     int     `json:"blocks,omitempty"`
	Runs       int     `json:"runs,omitempty"`
	For        int     `json:"for,omitempty"`
	Against    int     `json:"against,omitempty"`
	Ratio      float64 `json:"ratio,omitempty"`
	Low        float64 `json:"low,omitempty"`
	High       float64 `json:"high,omitempty"`
	Of         string  `json:"of,omitempty"` // name of the comparison, where the claim has several
}

// Over sums up a claim over hosts, from the newest verdict file of each. A file
// without the claim, as one of another design, is not counted.
func Over(claim string, newest []*File) Summed {
	out := Summed{ID: claim, Verdicts: map[Verdict]int{}, Hosts: []OnHost{}}
	newest = slices.Clone(newest)
	slices.SortFunc(newest, func(a, b *File) int { return strings.Compare(a.pair(), b.pair()) })
	var effects [][]Effect
	var names []string
	for _, f := range newest {
		for _, c := range f.Claims {
			if c.ID != claim {
				continue
			}
			on := OnHost{Host: f.Host, ClientHost: f.ClientHost, Run: f.Run, Verdict: c.Verdict, Reason: c.Reason,
				Blocks: c.Blocks, Runs: c.Runs, For: c.For, Against: c.Against}
			if e, ok := deciding(c); ok {
				on.Ratio, on.Low, on.High = e.Ratio, e.Low, e.High
				if len(c.Effects) > 1 {
					on.Of = e.name()
				}
			}
			out.Hosts = append(out.Hosts, on)
			out.Verdicts[c.Verdict]++
			effects, names = append(effects, c.Effects), append(names, f.pair())
		}
	}
	out.Says = out.says()
	out.Agree, out.Apart = agreement(names, effects)
	return out
}

// OverHosts sums up all claims of an experiment as it is now.
func OverHosts(x *experiment.Experiment, newest []*File) *Hosts {
	out := &Hosts{SchemaVersion: Version, Experiment: x.Name, Claims: []Summed{}}
	for _, c := range x.Claims {
		out.Claims = append(out.Claims, Over(c.ID, newest))
	}
	return out
}

// pair names a file's host, and the client's host if it is another.
func (f *File) pair() string {
	if f.ClientHost == f.Host || f.ClientHost == "" {
		return f.Host
	}
	return f.Host + " with " + f.ClientHost
}

// deciding is the comparison whose counts are the claim's.
func deciding(c Claim) (Effect, bool) {
	for _, e := range c.Effects {
		if e.Decides {
			return e, true
		}
	}
	return Effect{}, false
}

// name describes the comparison as in reasons.
func (e Effect) name() string {
	out := e.Metric
	for factor, a := range e.A { // there is exactly one
		out = fmt.Sprintf("%s %s over %s", e.Metric, a, e.B[factor])
	}
	if len(e.At) > 0 {
		out += " at " + e.At.Key()
	}
	return out
}

// says counts the hosts by verdict: "held on 2 of 3 machines, cannot tell on
// 1".
func (s Summed) says() string {
	n := len(s.Hosts)
	if n == 0 {
		return "no machine has measured it yet"
	}
	var parts []string
	for _, v := range []struct {
		is  Verdict
		how string
	}{{Reproduced, "held"}, {Refuted, "refuted"}, {Inconclusive, "cannot tell"}, {Invalid, "not measured validly"}, {NotApplicable, "does not apply"}} {
		switch k := s.Verdicts[v.is]; {
		case k == 0:
		case len(parts) == 0:
			parts = append(parts, fmt.Sprintf("%s on %d of %d %s", v.how, k, n, plural(n, "machine")))
		default:
			parts = append(parts, fmt.Sprintf("%s on %d", v.how, k))
		}
	}
	return strings.Join(parts, ", ")
}

// agreement compares the hosts' intervals, comparison by comparison. A host is
// apart if its interval is disjoint from those of more than half of the other
// hosts with one.
func agreement(names []string, effects [][]Effect) (says string, apart []string) {
	with := map[int]bool{}
	isApart := map[int]bool{}
	for i := range effects {
		for _, e := range effects[i] {
			others, disjoint := 0, 0
			for j := range effects {
				at := slices.IndexFunc(effects[j], func(o Effect) bool {
					return o.name() == e.name() && o.hasInterval()
				})
				if j == i || at < 0 || !e.hasInterval() {
					continue
				}
				others++
				o := effects[j][at]
				if e.Low > o.upper() || o.Low > e.upper() {
					disjoint++
				}
			}
			with[i] = with[i] || others > 0
			isApart[i] = isApart[i] || 2*disjoint > others
		}
	}
	n := 0
	for i, name := range names {
		if with[i] {
			n++
		}
		if isApart[i] {
			apart = append(apart, name)
		}
	}
	switch {
	case n < 2:
		return "", nil
	case len(apart) == 0:
		return fmt.Sprintf("the intervals of all %d machines overlap those of most others", n), nil
	case len(apart) == n:
		return fmt.Sprintf("the %d machines differ: the interval of each lies apart from those of most others", n), apart
	}
	return fmt.Sprintf("of %d machines, %s lies apart from most others", n, strings.Join(apart, " and ")), apart
}

func (e Effect) hasInterval() bool { return e.Low > 0 || e.High > 0 }

// upper is the interval's upper end, or a number above all ratios if it has
// none.
func (e Effect) upper() float64 {
	if e.High == 0 {
		return maxRatio
	}
	return e.High
}

const maxRatio = 1e300
