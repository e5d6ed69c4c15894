package gate

import (
	"fmt"
	"strings"
)

// A Disturbance is what else a machine did while trials were measured. It decides nothing.
type Disturbance struct {
	Others float64 // cores that other processes used of both sides' cores, in the mean
	Steal  float64 // share of both sides' cores that the hypervisor took, in the mean
	Slow   float64 // slowest calibration loop of a block over the fastest one of all
}

// Disturbed sums up trials by their figures. A figure that a trial lacks counts as none.
// Where both sides share their cores, each side's figure is of all of them.
func Disturbed(trials []map[string]float64, shared bool) (d Disturbance) {
	var fastest, slowest float64
	for _, m := range trials {
		others := m["server_foreign_load"] + m["client_foreign_load"]
		if shared {
			others = m["server_foreign_load"]
		}
		d.Others += others / float64(len(trials))
		d.Steal += (m["server_steal"] + m["client_steal"]) / 2 / float64(len(trials))
		for _, name := range []string{"calibration_before_s", "calibration_after_s"} {
			if v := m[name]; v > 0 {
				slowest = max(slowest, v)
				if fastest == 0 || v < fastest {
					fastest = v
				}
			}
		}
	}
	if fastest > 0 {
		d.Slow = slowest / fastest
	}
	return d
}

// The least of each disturbance that a line tells.
const (
	toldOthers = 0.05
	toldSteal  = 0.01
	toldSlow   = 1.25
)

// String says it in a line; empty if there was next to nothing.
func (d Disturbance) String() string {
	var all []string
	if d.Others >= toldOthers {
		all = append(all, fmt.Sprintf("%.2g of a core was used by others", d.Others))
	}
	if d.Steal >= toldSteal {
		all = append(all, fmt.Sprintf("%.0f %% of the cores' time was stolen", d.Steal*100))
	}
	if d.Slow >= toldSlow {
		all = append(all, fmt.Sprintf("the server's core was up to %.1f times slower at times", d.Slow))
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + "; intervals are wider for it"
}
