package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
)

// Confidence is the probability with which all intervals of one metric hold what they are of,
// at whatever block one stops.
const Confidence = 0.95

// Figures are what one block measured of one server; 0 is not measured.
type Figures struct {
	CPUPerRequest float64 // seconds
	Throughput    float64 // requests a second
	P50, P99      float64 // latency in seconds
}

func (f Figures) all() [4]float64 { return [4]float64{f.CPUPerRequest, f.Throughput, f.P50, f.P99} }

// Blocks says what blocks tell of servers, of which the first is the one that the others are
// compared with. Each block has the figures of all servers, in their order, measured at nearly
// the same time. Two are the same within margin, a share such as 0.03. It refuses blocks of
// another number of servers, and figures below 0 or that are no numbers.
func Blocks(servers []string, margin float64, blocks [][]Figures) (*Outcome, error) {
	if len(servers) < 2 {
		return nil, errors.New("compare: name two servers or more")
	}
	if !(margin > 0 && margin < 1) {
		return nil, fmt.Errorf("compare: margin is %v; give a share above 0 and below 1, as 0.03", margin)
	}
	for n, b := range blocks {
		if len(b) != len(servers) {
			return nil, fmt.Errorf("compare: block %d has figures of %d servers, and there are %d", n+1, len(b), len(servers))
		}
		for i, f := range b {
			for _, v := range f.all() {
				if !(v >= 0) || math.IsInf(v, 1) {
					return nil, fmt.Errorf("compare: block %d: %s has a figure of %v", n+1, servers[i], v)
				}
			}
		}
	}
	level := (1 - Confidence) / float64(len(servers)-1)
	out := &Outcome{SchemaVersion: Version, Margin: margin, Confidence: Confidence, Blocks: len(blocks),
		Trials: len(blocks) * len(servers), Says: []string{}, Comparisons: []Comparison{}}
	for i, name := range servers {
		m := Measured{Name: name, Bound: "unknown", Valid: len(blocks)}
		c := Comparison{Name: name, Base: servers[0]}
		var ratios [4]Ratios
		for n, to := range [4]struct {
			median *float64
			ratio  **Ratio
		}{{&m.CPUPerRequest, &c.CPUPerRequest}, {&m.Throughput, &c.Throughput}, {&m.P50, &c.P50}, {&m.P99, &c.P99}} {
			var known []float64
			r := &ratios[n]
			for _, b := range blocks {
				x, y := b[i].all()[n], b[0].all()[n]
				least, most := 0.0, math.Inf(1)
				if x > 0 {
					known = append(known, x)
				}
				if x > 0 && y > 0 {
					least, most = x/y, x/y
				}
				r.Least, r.Most = append(r.Least, least), append(r.Most, most)
			}
			*to.median, *to.ratio = median(known), Over(r.Least, r.Most, level)
		}
		if out.Servers = append(out.Servers, m); i == 0 {
			continue
		}
		if c.CPUPerRequest != nil {
			c.CPUPerRequest, c.Evidence = ratios[0].Interval(level), Weigh(ratios[0], margin, 0)
			c.Evidence.Agreed = true
		}
		if c.Verdict = c.CPUPerRequest.Judge(margin); c.Verdict == Undecided {
			c.Says = c.NotDecided(margin, level, "none has CPU time of both")
		} else {
			c.Says = c.Sentence(margin)
		}
		out.Comparisons, out.Says = append(out.Comparisons, c), append(out.Says, c.Says)
	}
	out.Exit = out.Status()
	return out, nil
}

// Over is the ratio of one server's figures to another's, of which least and most bound that of
// each block; from 0 to infinity is a block that cannot tell. It is nil if none can. level is the
// probability of error that its interval may have.
func Over(least, most []float64, level float64) *Ratio {
	var middle []float64
	each := make([]float64, len(least))
	for n := range least {
		if !math.IsInf(most[n], 1) {
			each[n] = (least[n] + most[n]) / 2
			middle = append(middle, each[n])
		}
	}
	if len(middle) == 0 {
		return nil
	}
	r := &Ratio{Ratio: median(middle), Blocks: len(least), Each: each}
	if low, high, ok := confseq.Median(least, most, level); ok && low > 0 && !math.IsInf(high, 1) {
		r.Low, r.High, r.Unequal = low, high, low > 1 || high < 1
	}
	return r
}

// median is 0 of nothing.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(of))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return s[mid-1]/2 + s[mid]/2
}

// Judge is the rule: the same if the whole interval is within the margin; else
// dearer or cheaper if all of it is on one side of 1.
func (r *Ratio) Judge(margin float64) Verdict {
	switch {
	case !r.Known():
	case r.Low >= 1/(1+margin) && r.High <= 1+margin:
		return Same
	case r.Unequal && r.Low >= 1:
		return Dearer
	case r.Unequal && r.High <= 1:
		return Cheaper
	}
	return Undecided
}

// Against says whether all of the interval is above a bar: yes, no, or open.
func (r *Ratio) Against(bar float64) string {
	switch {
	case !r.Known():
	case r.Low > bar || r.Low == bar && r.Unequal && bar == 1:
		return AboveYes
	case r.High <= bar:
		return AboveNo
	}
	return AboveOpen
}
