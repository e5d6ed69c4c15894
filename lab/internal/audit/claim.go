package audit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Claim is a statement of a text, in words of our own, with what one needs to
// make it and what the text has.
type Claim struct {
	ID     string   `toml:"id"`
	Place  string   `toml:"place"`
	Says   string   `toml:"says"`
	Metric string   `toml:"metric"` // what it is about
	Needs  []Need   `toml:"needs"`
	Checks []string `toml:"checks"` // that bear on it

	// What there is.
	Runs       int    `toml:"runs"`        // of each condition that is compared
	ClientBusy string `toml:"client_busy"` // formula; empty if the client's CPU was not recorded
	ServerBusy string `toml:"server_busy"` // formula; empty if the server's CPU was not recorded
	Comparison bool   `toml:"comparison"`  // whether the run it would be compared with was made
}

// A Need is what a claim cannot be made without.
type Need string

// The needs.
const (
	Repeats    Need = "repeats"    // as many as an interval takes
	ClientCPU  Need = "client-cpu" // known to have had room
	ServerCPU  Need = "server-cpu" // recorded
	Comparison Need = "comparison" // a run of what it is compared with
)

func (c Claim) resolve(checks map[string]bool) error {
	if c.Place == "" || c.Says == "" {
		return errors.New("needs place and says")
	}
	if len(c.Needs) == 0 && len(c.Checks) == 0 {
		return errors.New("needs neither anything nor a check: nothing would decide it")
	}
	for _, n := range c.Needs {
		switch n {
		case Repeats, ClientCPU, ServerCPU, Comparison:
		default:
			return fmt.Errorf("unknown need %q; use %s, %s, %s or %s", n, Repeats, ClientCPU, ServerCPU, Comparison)
		}
	}
	for _, name := range c.Checks {
		if !checks[name] {
			return fmt.Errorf("no check %q", name)
		}
	}
	if _, ok := metric.Lookup(c.Metric); c.Metric != "" && !ok {
		return fmt.Errorf("unknown metric %q", c.Metric)
	}
	if c.ClientBusy != "" && c.Metric == "" {
		return errors.New("client_busy says nothing of a claim without a metric")
	}
	return nil
}

// claim gives the verdict that is true of a claim. What the text's own figures
// contradict is refuted whoever was the wall; after that the order is that of
// measured runs: a saturated client before too few runs.
func (b *book) claim(t *Text, c Claim, found map[string]Finding) (Verdict, error) {
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
	busy, watched := Quantity{}, c.ClientBusy != ""
	if watched {
		var err error
		if busy, err = b.eval(t, c.ClientBusy); err != nil {
			return out, fmt.Errorf("client_busy: %w", err)
		}
	}
	if c.ServerBusy != "" {
		if _, err := b.eval(t, c.ServerBusy); err != nil {
			return out, fmt.Errorf("server_busy: %w", err)
		}
	}
	if m, _ := metric.Lookup(c.Metric); watched && m.MeasuresClient && busy.Low >= bound.CPUSaturated {
		out.Verdict = verdict.Invalid
		out.Reason = fmt.Sprintf("measures the client: its cores were %.0f %% busy", busy.Value*100)
		return out, nil
	}
	var lacks []string
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

func times(runs int) string {
	if runs == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs", runs)
}
