package gate

import (
	"fmt"
	"strings"
)

// Disturbed says in a line what else a machine did while trials were measured, by their figures; empty if there was
// next to nothing. It decides nothing. A figure that a trial lacks counts as none. Where both sides share their cores,
// each side's figure is of all of them.
func Disturbed(trials []map[string]float64, shared bool) string {
	var others, steal, fastest, slowest, slow float64
	for _, m := range trials {
		if others += m["server_foreign_load"]; !shared {
			others += m["client_foreign_load"]
		}
		steal += (m["server_steal"] + m["client_steal"]) / 2
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
		slow = slowest / fastest
	}
	n := max(1, float64(len(trials)))
	var says []string
	for _, one := range []struct {
		v, least float64 // the least that counts
		format   string
	}{
		{others / n, 0.05, "%.2g of a core was used by others"},
		{100 * steal / n, 1, "%.0f %% of the cores' time was stolen"},
		{slow, 1.25, "the server's core was up to %.1f times slower at times"},
	} {
		if one.v >= one.least {
			says = append(says, fmt.Sprintf(one.format, one.v))
		}
	}
	if len(says) == 0 {
		return ""
	}
	return strings.Join(says, ", ") + "; intervals are wider for it"
}
