package main

import (
	"math"
	"math/bits"

	"github.com/line-rate/line-rate/lab/internal/generator"
)

// A histogram counts times in nanoseconds, in steps that grow with the time: each power
// of two has subSteps, so that a time is known to a thousandth of itself, and exactly
// below two microseconds. Its memory is fixed. It also keeps the exact mean and maximum.
//
// hdrhistogram-go counts in the same way, but takes three times as long to find the place
// of a value, which is noticeable at a pipeline of fifty.
const (
	subBits  = 10
	subSteps = 1 << subBits
	longest  = int64(1) << 42 // 73 minutes, more than the longest slot and its timeout
	places   = (42 - subBits + 1) * subSteps
)

type histogram struct {
	counts []uint32
	n      int64
	sum    float64 // ns
	max    int64
}

// latencyStep is the greatest relative step.
const latencyStep = 1.0 / subSteps

func newHistogram() *histogram { return &histogram{counts: make([]uint32, places)} }

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

func (h *histogram) add(ns int64) {
	ns = min(max(ns, 0), longest-1)
	h.counts[place(ns)]++
	h.n++
	h.sum += float64(ns)
	h.max = max(h.max, ns)
}

func (h *histogram) merge(o *histogram) {
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

// quantile is the upper edge of the step that holds the q-th quantile, in seconds, and
// never above the greatest time.
func (h *histogram) quantile(q float64) float64 {
	rank := max(int64(math.Ceil(q*float64(h.n))), 1)
	for i, n := range h.counts {
		if rank -= int64(n); rank <= 0 {
			return seconds(min(upper(i), h.max))
		}
	}
	return seconds(h.max)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

func (h *histogram) latency() *generator.Latency {
	if h.n == 0 {
		return nil
	}
	return &generator.Latency{
		Mean: min(h.sum/float64(h.n)/1e9, seconds(h.max)),
		P50:  h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99), P999: h.quantile(0.999), Max: seconds(h.max),
	}
}

func (h *histogram) lag() *generator.SendLag {
	if h.n == 0 {
		return nil
	}
	return &generator.SendLag{P50: h.quantile(0.5), P99: h.quantile(0.99), Max: seconds(h.max)}
}
