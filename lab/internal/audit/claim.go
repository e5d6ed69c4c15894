package audit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Claim is a statement of a text in our own words, with what it takes to make
// it and what the text has.
type Claim struct {
	ID     string   `toml:"id"`
	Place  string   `toml:"place"`
	Says   string   `toml:"says"`
	Metric string   `toml:"metric"` // what it is about
	Needs  []Need   `toml:"needs"`
	Checks []string `toml:"checks"` // checks whose disagreement refutes it

	// What the text has.
	Runs       int    `toml:"runs"`        // of each compared condition
	ClientBusy string `toml:"client_busy"` // formula; empty if the client's CPU was not recorded
	ServerBusy string `toml:"server_busy"` // formula; empty if the server's CPU was not recorded
	// formula: how busy the part was that the claim calls the wall; empty if it names none
	Wall       string `toml:"wall"`
	Comparison bool   `toml:"comparison"` // whether the run to compare with was made
}

// A Need is something without which a claim cannot be made.
type Need string

// The needs, each with its sentence in Needs.
const (
	Repeats    Need = "repeats"
	ClientCPU  Need = "client-cpu"
	ServerCPU  Need = "server-cpu"
	Comparison Need = "comparison"
)

// Needs explains each need.
var Needs = map[Need]string{
	Repeats:    "Runs enough for an interval.",
	ClientCPU:  "The client's CPU was recorded, and had room.",
	ServerCPU:  "The server's CPU was recorded.",
	Comparison: "What is compared with was run.",
}

func (c Claim) resolve(checks map[string]bool) error {
	if c.Place == "" || c.Says == "" {
		return errors.New("needs place and says")
	}
	if len(c.Needs) == 0 && len(c.Checks) == 0 && c.Wall == "" {
		return errors.New("needs neither anything nor a check nor a wall: nothing would decide it")
	}
	for _, n := range c.Needs {
		if Needs[n] == "" {
			return fmt.Errorf("unknown need %q; %s", n, strict.InsteadOf(string(n), strict.Meanings(Needs)))
		}
	}
	for _, name := range c.Checks {
		if !checks[name] {
			return fmt.Errorf("no check %q; %s", name, strict.Instead(name, slices.Sorted(maps.Keys(checks))))
		}
	}
	if _, ok := metric.Lookup(c.Metric); c.Metric != "" && !ok {
		return fmt.Errorf("unknown metric %q; %s", c.Metric, strict.Instead(c.Metric, metric.Names()))
	}
	if c.ClientBusy != "" && c.Metric == "" {
		return errors.New("client_busy says nothing of a claim without a metric")
	}
	return nil
}

// claim decides a claim. If the text's own figures contradict it, it is
// refuted, whatever the wall was. After that the order is that of measured
// runs: a saturated client before too few runs.
func (b book) claim(t *Text, c Claim, found map[string]Finding) (Verdict, error) {
	out := Verdict{ID: c.ID, Place: c.Place, Says: c.Says, Needs: c.Needs}
	if out.Needs == nil {
		out.Needs = []Need{}
	}
	var against []string
	for _, name := range c.Checks {
		if f := found[name]; f.Verdict == Disagrees {
			against = append(against, f.Place)
		}
	}
	if len(against) > 0 {
		out.Verdict, out.Reason = verdict.Refuted, "the text's own figures contradict it: "+strings.Join(against, "; ")
		return out, nil
	}
	client, err := b.busy(t, "client_busy", c.ClientBusy, found)
	if err != nil {
		return out, err
	}
	if _, err := b.busy(t, "server_busy", c.ServerBusy, found); err != nil {
		return out, err
	}
	wall, err := b.busy(t, "wall", c.Wall, found)
	if err != nil {
		return out, err
	}
	watched := c.ClientBusy != ""
	if m, _ := metric.Lookup(c.Metric); watched && m.MeasuresClient && client.Low >= gate.CPUSaturated {
		out.Verdict = verdict.Invalid
		out.Reason = fmt.Sprintf("measures the client: its cores were %.3g %% busy", client.Value*100)
		return out, nil
	}
	var lacks []string
	if c.Wall != "" && wall.Low < gate.CPUSaturated {
		lacks = append(lacks, fmt.Sprintf("what it calls the wall was %.3g %% busy at the most that fits its other "+
			"figures, and %v %% is where this lab calls a wall", wall.Value*100, gate.CPUSaturated*100))
	}
	for _, n := range c.Needs {
		switch {
		case n == Repeats && c.Runs == 0:
			lacks = append(lacks, "how many runs it rests on is not said")
		case n == Repeats && c.Runs < stats.MinSamples:
			lacks = append(lacks, fmt.Sprintf("%s of each has no interval", times(c.Runs)))
		case n == ClientCPU && !watched:
			lacks = append(lacks, "the client's CPU was not recorded")
		case n == ServerCPU && c.ServerBusy == "":
			lacks = append(lacks, "the server's CPU was not recorded")
		case n == Comparison && !c.Comparison:
			lacks = append(lacks, "the run it would be compared with was not made")
		}
	}
	out.Verdict = verdict.Inconclusive
	if len(lacks) > 0 {
		out.Reason = strings.Join(lacks, "; ")
		return out, nil
	}
	out.SingleRun, out.Reason = Agrees, "its own figures bear it out"
	return out, nil
}

// busy computes how busy a side was, from the formula in a claim's field;
// without a formula nothing is known. A figure is capped at the limit of a
// failed check on CPU sums: an impossible figure must not decide a bound.
func (b book) busy(t *Text, field, formula string, found map[string]Finding) (law.Quantity, error) {
	if formula == "" {
		return law.Quantity{}, nil
	}
	most := map[string]law.Quantity{}
	for _, c := range t.Checks {
		if f := found[c.ID]; c.Kind == Kind(law.CPU.ID) && f.Relation == law.AtMost && f.Verdict == Disagrees {
			most[lone(c.Of)] = f.Recomputed
		}
	}
	q, err := evaluate(formula, func(name string) (law.Quantity, error) {
		n, err := b.find(t, name)
		if least, capped := most[name]; capped {
			return calls["min"](n.Quantity, least), err
		}
		return n.Quantity, err
	})
	if err == nil && q.Low > 1 {
		err = fmt.Errorf("%q is %.4g %% or more, which no side can be; check its figures against what there is, with a "+
			"check of kind %s and at_most", formula, q.Low*100, Kind(law.CPU.ID))
	}
	if err != nil {
		return q, fmt.Errorf("%s: %w", field, err)
	}
	return q, nil
}

func times(runs int) string {
	if runs == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs", runs)
}
