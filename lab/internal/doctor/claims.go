package doctor

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// needs tells whether a claim has a need.
func (m Machine) needs(has func(experiment.Demands) bool) bool {
	for _, x := range m.Experiments {
		for _, c := range x.Claims {
			if has(x.Needs(c)) {
				return true
			}
		}
	}
	return false
}

// over gives the largest number of connections, above n, that an experiment of a topology ("" for
// any) opens; 0 if none does.
func (m Machine) over(topology string, n int64) (largest int64) {
	for _, x := range m.Experiments {
		if c := x.Connections(); c > n && (topology == "" || topology == x.Topology.Kind) {
			largest = max(largest, c)
		}
	}
	return largest
}

// Summary says in a few lines what keeps the machine from measuring just now, and what disturbs it.
func Summary(fs []Finding) (lines []string) {
	var disturbs []string
	for _, f := range fs {
		switch {
		case f.Level == Fault:
			return []string{fmt.Sprintf("This machine can decide no claim yet: %s is %s.", f.About, f.Seen)}
		case f.Level == Limit && f.Spoils:
			says := fmt.Sprintf("As it is now, trials of every claim are invalid: %s: %s", f.About, f.Seen)
			if f.Mend != "" {
				says += "; to mend it: " + f.Mend
			}
			lines = append(lines, says+".")
		case f.Level == Limit && !f.Bars:
			disturbs = append(disturbs, f.About)
		}
	}
	if len(disturbs) > 0 {
		lines = append(lines, fmt.Sprintf("As it is now, trials are disturbed by: %s.", join(disturbs)))
	}
	return lines
}
