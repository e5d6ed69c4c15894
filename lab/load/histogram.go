package load

import (
	"math"
	"math/bits"
)

// A Histogram counts times in nanoseconds, in steps that grow with the time: each power
// of two has subSteps, so that a time is known to a thousandth of itself, and exactly
// below two microseconds. It has a fixed size. It also keeps the exact mean and maximum.
//
// hdrhistogram-go counts in the same way, but takes three times as long to find the place
// of a value, which is noticeable at a pipeline of fifty.
type Histogram struct {
	counts []uint32
	n      int64
	sum    float64 // ns
	max    int64
}

const (
	subBits  = 10
	subSteps = 1 << subBits
	longest  = int64(1) << 42 // 73 minutes, more than the longest slot and its timeout
	places   = (42 - subBits + 1) * subSteps
)

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram { return &Histogram{counts: make([]uint32, places)} }

// place is the index under which a time is counted.
func place(ns int64) int {
	shift := bits.Len64(uint64(ns)) - subBits - 1
	if shift <= 0 {
		return int(ns)
	}
	return shift<<subBits + int(ns>>shift)
}

// upper is the greatest time that is counted at a place.
func upper(place int) int64 {
	shift := place>>subBits - 1
	if shift <= 0 {
		return int64(place)
	}
	return (int64(place-shift<<subBits)+1)<<shift - 1
}

// Add counts a time in nanoseconds. It counts impossible times at the ends.
func (h *Histogram) Add(ns int64) {
	ns = min(max(ns, 0), longest-1)
	h.counts[place(ns)]++
	h.n++
	h.sum += float64(ns)
	h.max = max(h.max, ns)
}

// Each gives the upper edge of each step that has counts, in nanoseconds and rising, and its count.
func (h *Histogram) Each(give func(ns, n int64)) {
	for i, n := range h.counts {
		if n > 0 {
			give(min(upper(i), h.max), int64(n))
		}
	}
}

// Merge adds what another histogram counted. At one place there is room for an hour of a million a second.
func (h *Histogram) Merge(o *Histogram) {
	if o.n == 0 {
		return
	}
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.n += o.n
	h.sum += o.sum
	h.max = max(h.max, o.max)
}

// Quantile is the upper edge of the step that holds the q-th quantile, in seconds, and
// never above the greatest time.
func (h *Histogram) Quantile(q float64) float64 {
	rank := max(int64(math.Ceil(q*float64(h.n))), 1)
	for i, n := range h.counts {
		if rank -= int64(n); rank <= 0 {
			return seconds(min(upper(i), h.max))
		}
	}
	return seconds(h.max)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// Latency is nil if nothing was counted.
func (h *Histogram) Latency() *Latency {
	if h.n == 0 {
		return nil
	}
	return &Latency{
		N:    h.n,
		Mean: min(h.sum/float64(h.n)/1e9, seconds(h.max)),
		P50:  h.Quantile(0.5), P90: h.Quantile(0.9), P99: h.Quantile(0.99), P999: h.Quantile(0.999), Max: seconds(h.max),
	}
}
