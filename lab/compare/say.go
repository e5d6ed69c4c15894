package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// several is the ratio from which a server costs so many times as much.
const several = 3

// Sentence is a decided comparison in words.
func (c Comparison) Sentence(margin float64) string {
	r := c.CPUPerRequest
	by, from := change(r.Ratio, r.Low, r.High)
	says := fmt.Sprintf("%s costs %s CPU a request than %s (%s)", c.Name, by, c.Base, from)
	if r.Ratio >= several {
		says = fmt.Sprintf("%s costs %s times the CPU a request of %s (%s to %s times)", c.Name, fixed(r.Ratio, 1), c.Base,
			fixed(outwards(r.Low, 1, math.Floor), 1), fixed(outwards(r.High, 1, math.Ceil), 1))
	}
	if c.Verdict != Same {
		return says
	}
	though := ""
	if r.Unequal {
		though = ", though not equal"
	}
	return fmt.Sprintf("the same within %s %%%s: %s", strconv.FormatFloat(100*margin, 'g', 10, 64), though, says)
}

// change is a ratio as "4.2 % more", and its interval in one direction whatever the word: "+3.1 to
// +5.3 %", or "up to +5.3 %" where it begins at equality. It rounds ends outwards, so that it
// claims no more than the interval holds.
func change(ratio, low, high float64) (by, from string) {
	word, least, most := "more", 100*(low-1), 100*(high-1)
	if ratio < 1 {
		word = "less"
	}
	places := 1
	for ; places < 3 && (nought(least, places) || nought(most, places)); places++ {
		// An end that is not 0 must not be printed as if it were.
	}
	amount := fixed(100*math.Abs(ratio-1), places)
	if strings.Trim(amount, "0.") == "" {
		amount = "under " + fixed(math.Pow10(-places), places)
	}
	by = fmt.Sprintf("%s %% %s", amount, word)
	from, to := signed(outwards(least, places, math.Floor), places), signed(outwards(most, places, math.Ceil), places)
	switch {
	case low == 1:
		return by, "up to " + to + " %"
	case high == 1:
		return by, "down to " + from + " %"
	}
	return by, from + " to " + to + " %"
}

// signed prints a number with its sign, and 0 without one.
func signed(v float64, places int) string {
	if v > 0 {
		return "+" + fixed(v, places)
	}
	return fixed(v, places)
}

func nought(v float64, places int) bool {
	return v != 0 && math.Abs(v) < math.Pow10(-places)
}

func outwards(v float64, places int, round func(float64) float64) float64 {
	unit := math.Pow10(places)
	return round(math.Round(v*unit*1e6)/1e6) / unit // what is exact but for the last bit stays
}

// fixed prints a number with a real minus sign and never a minus zero.
func fixed(v float64, places int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', places, 64)
	if v < 0 && strings.ContainsAny(s, "123456789") {
		return "−" + s
	}
	return s
}

// end is one end of an interval in words: "1.2 % less".
func end(v float64, round func(float64) float64) string {
	p := outwards(100*(v-1), 1, round)
	if p < 0 {
		return fixed(-p, 1) + " % less"
	}
	return fixed(p, 1) + " % more"
}

// SoFar is the state of a server's cost during the measurement, or of its throughput where no cost
// can be read.
func (c Comparison) SoFar() string {
	r, of := c.CPUPerRequest, "CPU a request"
	if r == nil {
		r, of = c.Throughput, "throughput"
	}
	switch {
	case r == nil:
		return c.Name + " not known"
	case !r.Known():
		return fmt.Sprintf("%s about %s %% %s", c.Name, signed(math.Round(100*(r.Ratio-1)), 0), of)
	}
	return fmt.Sprintf("%s %s to %s %% %s", c.Name, signed(math.Floor(100*(r.Low-1)), 0), signed(math.Ceil(100*(r.High-1)), 0), of)
}

// NotDecided says in words between what the ratio of a comparison lies, or how far its blocks
// are from telling at the level of its interval. why says why there is no block with both.
func (c Comparison) NotDecided(margin, level float64, why string) string {
	switch r := c.CPUPerRequest; {
	case r == nil:
		return fmt.Sprintf("not decided: no block has valid trials of both %s and %s; %s", c.Name, c.Base, why)
	case !r.Known():
		return fmt.Sprintf("not decided: both %s and %s have valid trials in %d of the %d blocks that are the least that tell%s", c.Name,
			c.Base, r.Blocks, Fewest(level), c.More())
	case c.FurtherS == 0 && r.Judge(margin) != Undecided:
		c.Verdict = r.Judge(margin)
		return "not decided: the A/A control has not agreed; else " + c.Sentence(margin)
	default:
		return fmt.Sprintf("not decided: %s costs between %s and %s CPU a request than %s%s", c.Name, end(r.Low, math.Floor),
			end(r.High, math.Ceil), c.Base, c.More())
	}
}

// More says how long deciding would take; empty if that is not known.
func (c Comparison) More() string {
	switch {
	case c.FurtherS == 0:
		return ""
	case c.FurtherS < 120:
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
