package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Lines are what the call prints: for each server but the first one line of
// verdict and three of figures, then the notes.
func (o *Outcome) Lines() []string {
	var out []string
	for i, c := range o.Comparisons {
		out = append(out, c.Says)
		base, other := o.Servers[0], o.Servers[i+1]
		bound := bounds(base, other)
		if c.CPUPerRequest != nil {
			out = append(out, fmt.Sprintf("  CPU a request  %s; %s against %s; %s", c.CPUPerRequest, words.Time(other.CPUPerRequest), words.Time(base.CPUPerRequest), bound))
		}
		if c.OwnWork != "" {
			out = append(out, "  own work       "+c.OwnWork)
		}
		if c.Throughput != nil {
			out = append(out, fmt.Sprintf("  throughput     %s; %s against %s requests/s; %s", c.Throughput, words.Grouped(other.Throughput, 0), words.Grouped(base.Throughput, 0), bound))
		}
		if c.P50 != nil && c.P99 != nil {
			out = append(out, fmt.Sprintf("  latency        p50 %s, %s against %s; p99 %s, %s against %s; %s", c.P50, words.Time(other.P50), words.Time(base.P50), c.P99, words.Time(other.P99), words.Time(base.P99), bound))
		}
	}
	for _, n := range o.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// Seal fills in what the call prints and how it exits.
func (o *Outcome) Seal() { o.Says, o.Exit = o.Lines(), o.exit() }

// sentence is a decided comparison in words.
func sentence(c Comparison, margin float64) string {
	r := c.CPUPerRequest
	by, from := change(r.Ratio, r.Low, r.High)
	within := words.Number(100*margin) + " %"
	says := fmt.Sprintf("%s costs %s CPU a request than %s (%s)", c.Name, by, c.Base, from)
	switch {
	case c.Verdict != Same:
		return says
	case r.Low > 1 || r.High < 1:
		return fmt.Sprintf("the same within %s, though not equal: %s", within, says)
	}
	return fmt.Sprintf("the same within %s: %s", within, says)
}

// change is a ratio as "4.2 % more" and "3.1 to 5.3 %". Ends are rounded outwards,
// so that no more is said than the interval holds.
func change(ratio, low, high float64) (by, from string) {
	word, least, most := "more", 100*(low-1), 100*(high-1)
	if ratio < 1 {
		word, least, most = "less", 100*(1-high), 100*(1-low)
	}
	places := 1
	for ; places < 3 && (nought(least, places) || nought(most, places)); places++ {
		// An end that is not 0 must not be printed as if it were.
	}
	return fmt.Sprintf("%s %% %s", fixed(100*math.Abs(ratio-1), places), word),
		fmt.Sprintf("%s to %s %%", fixed(outwards(least, places, math.Floor), places), fixed(outwards(most, places, math.Ceil), places))
}

func nought(v float64, places int) bool {
	return v != 0 && math.Abs(v) < math.Pow10(-places)
}

func outwards(v float64, places int, round func(float64) float64) float64 {
	unit := math.Pow10(places)
	return round(math.Round(v*unit*1e6)/1e6) / unit // what is exact but for the last bit stays
}

// fixed prints a number with a real minus sign and never a minus nought.
func fixed(v float64, places int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', places, 64)
	if v < 0 && strings.ContainsAny(s, "123456789") {
		return "−" + s
	}
	return s
}

// undecided says between what the ratio lies, or how far the blocks are from
// telling.
func (a *assessment) undecided(c Comparison, i int) string {
	r, least := c.CPUPerRequest, a.leastBlocks()
	switch {
	case r == nil:
		return fmt.Sprintf("not decided: no block has valid trials of both %s and %s; %s", c.Name, c.Base, a.refusals(i))
	case !r.Known():
		return fmt.Sprintf("not decided: %s of both %s and %s, and %d are the least that tell%s", words.Count(r.Blocks, "valid block"), c.Name, c.Base, least, c.more())
	case c.FurtherS == 0 && judge(r, a.o.Margin) != Undecided:
		return fmt.Sprintf("not decided: the A/A control has not agreed; else %s", sentence(Comparison{Name: c.Name, Base: c.Base, CPUPerRequest: r, Verdict: judge(r, a.o.Margin)}, a.o.Margin))
	}
	return fmt.Sprintf("not decided: %s costs between %s and %s CPU a request than %s%s", c.Name, end(r.Low, math.Floor), end(r.High, math.Ceil), c.Base, c.more())
}

// end is one end of an interval in words: "1.2 % less".
func end(v float64, round func(float64) float64) string {
	p := outwards(100*(v-1), 1, round)
	if p < 0 {
		return fixed(-p, 1) + " % less"
	}
	return fixed(p, 1) + " % more"
}

// leastBlocks is how many blocks that all agree have an interval.
func (a *assessment) leastBlocks() int { return stats.Fewest(a.level / 2) }

// more says how long deciding would take.
func (c Comparison) more() string {
	switch {
	case c.FurtherS == 0:
		return ""
	case c.FurtherS < 600:
		return fmt.Sprintf("; about %.0f more seconds would tell", c.FurtherS)
	}
	return fmt.Sprintf("; about %.0f more minutes would tell", math.Ceil(c.FurtherS/60))
}

// String is a ratio with its interval. It has three digits after the point: a
// hundredth is as large as what is asked.
func (r *Ratio) String() string {
	if !r.Known() {
		return fmt.Sprintf("× %.3f (too few blocks for an interval)", r.Ratio)
	}
	return fmt.Sprintf("× %.3f (%.3f to %.3f)", r.Ratio, outwards(r.Low, 3, math.Floor), outwards(r.High, 3, math.Ceil))
}

// bounds says what limited two servers' trials.
func bounds(base, other Measured) string {
	if base.Bound == other.Bound {
		return "bound: " + wall(base)
	}
	return fmt.Sprintf("bound: %s %s, %s %s", other.Name, wall(other), base.Name, wall(base))
}

// wall is a bound in words. A client that was full is said to be what was
// measured.
func wall(m Measured) string {
	if m.Bound == "unknown" {
		return "unknown"
	}
	names := map[string]string{"server-cpu": "server CPU", "client-cpu": "client CPU, so throughput and latency are the client's", "wire": "the wire"}
	var out []string
	for _, b := range strings.Split(m.Bound, "+") {
		out = append(out, names[b])
	}
	return strings.Join(out, " and ")
}
