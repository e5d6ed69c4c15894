package pages

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// An Outlier is a host that differs from most others.
type Outlier struct {
	Host string `json:"host"`
	Run  string `json:"run"`
	Why  string `json:"why"`
}

const (
	outliersFrom = 4  // fewer hosts than these have no majority worth the name
	mostOutliers = 12 // named on a page
)

// outliers names the hosts that decided otherwise than most that decided, and
// then those whose interval lies apart from most others, the farthest first.
func (s Summed) outliers() (named []Outlier, left int) {
	if len(s.Hosts) < outliersFrom {
		return nil, 0
	}
	yes, no := s.Verdicts[verdict.Reproduced], s.Verdicts[verdict.Refuted]
	minority := verdict.Verdict("")
	switch {
	case no < yes:
		minority = verdict.Refuted
	case yes < no:
		minority = verdict.Reproduced
	}
	var ratios []float64
	for _, h := range s.Hosts {
		if h.Ratio > 0 {
			ratios = append(ratios, math.Log(h.Ratio))
		}
	}
	slices.Sort(ratios)
	far := func(h OnHost) float64 {
		if h.Ratio == 0 {
			return 0
		}
		return math.Abs(math.Log(h.Ratio) - ratios[len(ratios)/2])
	}
	apart := map[string]bool{}
	if 2*len(s.Apart) < len(s.Hosts) {
		for _, name := range s.Apart {
			apart[name] = true
		}
	}
	var of []OnHost
	for _, h := range s.Hosts {
		if h.Verdict == minority || apart[verdict.PairOf(h.Host, h.ClientHost, h.Fleet)] {
			of = append(of, h)
		}
	}
	slices.SortStableFunc(of, func(a, b OnHost) int {
		if x, y := a.Verdict == minority, b.Verdict == minority; x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return cmp.Compare(far(b), far(a))
	})
	for _, h := range of[:min(len(of), mostOutliers)] {
		why := string(h.Verdict)
		if h.Verdict != minority {
			why = "far from the others"
		}
		if h.Text != "" {
			why = fmt.Sprintf("%s, ratio %s", why, h.Text)
			if h.Interval != "" {
				why += fmt.Sprintf(" (%s)", h.Interval)
			}
		}
		named = append(named, Outlier{Host: h.Host, Run: h.Run, Why: why})
	}
	return named, len(of) - len(named)
}

// A Spread is the drawing of all hosts' ratios on one logarithmic axis. Places
// on it are shares of its length.
type Spread struct {
	From  float64  `json:"band_from"` // of the claim's band, at 0 and 1 where it is open
	To    float64  `json:"band_to"`
	Ticks []Tick   `json:"ticks"`
	Rows  []Row    `json:"rows,omitempty"` // for a few hosts, each with its interval; the smallest ratio first
	Stack []Column `json:"stack,omitempty"`
	Tall  int      `json:"tall,omitempty"` // marks in the highest column
}

// A Tick is a ratio written below the axis.
type Tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

// A Row is one host's ratio and interval.
type Row struct {
	Host string          `json:"host"`
	Run  string          `json:"run"`
	Is   verdict.Verdict `json:"verdict"`
	At   float64         `json:"at"`
	From float64         `json:"from"`
	To   float64         `json:"to"`
	Text string          `json:"text"`
}

// A Column has the marks of all hosts whose ratios are in one part of the axis,
// one for each, by verdict.
type Column struct {
	At    float64                 `json:"at"`
	Marks map[verdict.Verdict]int `json:"marks"`
}

const (
	mostRows = 24
	columns  = 64
)

// spread lays out the drawing, of the comparison that decides on each host.
func spread(hosts []OnHost, effects [][]verdict.Effect) *Spread {
	var of []verdict.Effect
	var by []OnHost
	for i, h := range hosts {
		if e, ok := verdict.Deciding(verdict.Claim{Effects: effects[i]}); ok && h.Ratio > 0 {
			of, by = append(of, e), append(by, h)
		}
	}
	if len(of) == 0 {
		return nil
	}
	// The ends of the axis leave open ends out.
	low, high := 1.0, 1.0
	reach := func(v float64) {
		if v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	few := len(of) <= mostRows
	for _, e := range of {
		reach(e.Ratio)
		reach(e.BandLow)
		reach(e.BandHigh)
		if few {
			reach(e.Low)
			reach(e.High)
		}
	}
	room := max(math.Log(high/low)*0.06, 0.01)
	from, length := math.Log(low)-room, math.Log(high/low)+2*room
	at := func(v float64) float64 { return math.Round((math.Log(v)-from)/length*1e4) / 1e4 }
	out := &Spread{To: 1, Ticks: ticks(math.Exp(from), math.Exp(from+length), at)}
	if of[0].BandLow > 0 {
		out.From = at(of[0].BandLow)
	}
	if of[0].BandHigh > 0 {
		out.To = at(of[0].BandHigh)
	}
	if few {
		for i, e := range of {
			row := Row{Host: by[i].Host, Run: by[i].Run, Is: by[i].Verdict, At: at(e.Ratio), From: at(e.Ratio), To: at(e.Ratio), Text: e.Text()}
			if e.HasInterval() {
				row.From, row.To = 0, 1
				if e.Low > 0 {
					row.From = at(e.Low)
				}
				if e.High > 0 {
					row.To = at(e.High)
				}
			}
			out.Rows = append(out.Rows, row)
		}
		slices.SortStableFunc(out.Rows, func(a, b Row) int { return cmp.Compare(a.At, b.At) })
		return out
	}
	stack := make([]Column, columns)
	for i, e := range of {
		c := &stack[min(int(at(e.Ratio)*columns), columns-1)]
		if c.Marks == nil {
			c.Marks = map[verdict.Verdict]int{}
		}
		c.Marks[by[i].Verdict]++
	}
	for i, c := range stack {
		if c.Marks == nil {
			continue
		}
		c.At = math.Round((float64(i)+0.5)/columns*1e4) / 1e4
		tall := 0
		for _, n := range c.Marks {
			tall += n
		}
		out.Stack, out.Tall = append(out.Stack, c), max(out.Tall, tall)
	}
	return out
}

// ticks gives at most five round ratios between two others.
func ticks(low, high float64, at func(float64) float64) []Tick {
	var out []Tick
	add := func(v float64) {
		if v >= low && v <= high {
			out = append(out, Tick{at(v), strconv.FormatFloat(v, 'g', 4, 64)})
		}
	}
	if high/low > 3 {
		by := 2.0
		for ; math.Log(high/low)/math.Log(by) > 5; by *= 2 {
		}
		for v := math.Pow(by, math.Ceil(math.Log(low)/math.Log(by))); v <= high; v *= by {
			add(v)
		}
		return out
	}
	step := math.Pow10(int(math.Floor(math.Log10((high - low) / 4))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= 4.5 {
			step *= m
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high; i++ {
		add(i * step)
	}
	return out
}
