package pages

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/strict"
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
	few := 2*len(s.Apart) < len(s.Hosts)
	of := strict.Those(s.Hosts, func(h OnHost) bool {
		return h.Verdict == minority || few && slices.Contains(s.Apart, h.Host)
	})
	first := map[bool]int{true: -1}
	slices.SortStableFunc(of, func(a, b OnHost) int {
		return cmp.Or(first[a.Verdict == minority]-first[b.Verdict == minority], cmp.Compare(far(b), far(a)))
	})
	for _, h := range of[:min(len(of), mostOutliers)] {
		why := s.Whose.Word(h.Verdict)
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
