package gate

import (
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// Strangers is the metric that says what others ran on the server's cores in a trial's slots.
const Strangers = "strangers_cores"

// The bet on whether what others ran follows one of two conditions, as work that a server leaves to
// others would. It has a level of its own. A difference of the figures that is more than
// strangeFactor times what they ran more, as a share of a core, is not explained by it.
const (
	strangersLevel = 0.01
	leastStrange   = 0.02
	strangeFactor  = 2
)

// Follows tells whether others ran more in the slots of one of two conditions, and whether that can explain the ratio
// of a figure. It goes by the difference in each block, in cores. by is the median; k of n blocks have its sign.
func Follows(more []float64, ratio float64) (by float64, k, n int, is bool) {
	more = slices.DeleteFunc(slices.Clone(more), func(v float64) bool { return v == 0 || math.IsNaN(v) })
	if n = len(more); n == 0 {
		return 0, 0, 0, false
	}
	by = stats.Median(more)
	for _, v := range more {
		if v > 0 == (by > 0) {
			k++
		}
	}
	return by, k, n, Explains(by, ratio) && confseq.Shown(k, n, strangersLevel/2)
}

// Explains tells whether what others ran more, in cores, can explain the ratio of a figure.
func Explains(by, ratio float64) bool {
	return math.Abs(by) >= leastStrange && math.Abs(ratio-1) <= strangeFactor*math.Abs(by)
}
