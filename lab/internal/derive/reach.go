package derive

import "github.com/line-rate/line-rate/lab/internal/experiment"

// A Reach counts the journal's claims by what a machine needs to test them. A
// claim that needs several things is counted once: with a second machine before
// more cores, and with more cores before root.
type Reach struct {
	Claims   int `json:"claims"`
	Here     int `json:"here"`     // two cores and no root are enough
	Wire     int `json:"wire"`     // of these, over a wire between two namespaces
	Root     int `json:"root"`     // a setting that only root may change
	Cores    int `json:"cores"`    // more than two cores
	Machines int `json:"machines"` // a second machine, in a fleet
}

// cores is the smallest machine on which the lab runs.
const cores = 2

func reach(designs []*experiment.Experiment) (n Reach) {
	for _, x := range designs {
		for _, c := range x.Claims {
			n.Claims++
			switch d := x.Needs(c); {
			case d.Fleet:
				n.Machines++
			case d.Cores > cores:
				n.Cores++
			case d.Root:
				n.Root++
			default:
				n.Here++
				if d.Wire {
					n.Wire++
				}
			}
		}
	}
	return n
}
