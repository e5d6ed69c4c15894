package load

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// A Histogram counts times in nanoseconds, in steps that grow with the time: each power
// of two has subSteps, so that a time is known to a thousandth of itself, and exactly
// below two microseconds. Its memory is fixed. It also keeps the exact mean and maximum.
// http_load records in it; as JSON it has exactly what was recorded, so that the
// histograms of several generators can be merged.
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

// LatencyStep is the greatest relative step of a Histogram.
const LatencyStep = 1.0 / subSteps

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

// lower is the least time that is counted at a place.
func lower(place int) int64 {
	if place == 0 {
		return 0
	}
	return upper(place-1) + 1
}

// Add counts a time in nanoseconds. Impossible times are counted at the ends.
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

// Merge adds what another histogram counted. Both together have at most MaxCounted.
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

// MaxCounted is how many times a histogram holds if all are at one place: an hour of a
// million a second.
const MaxCounted = math.MaxUint32

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

// SendLag is nil if nothing was counted.
func (h *Histogram) SendLag() *SendLag {
	if h.n == 0 {
		return nil
	}
	return &SendLag{P50: h.Quantile(0.5), P99: h.Quantile(0.99), Max: seconds(h.max)}
}

// Raw is the histogram itself, or nil if nothing was counted.
func (h *Histogram) Raw() *Histogram {
	if h.n == 0 {
		return nil
	}
	return h
}

// histogramText is a histogram as JSON. Counts are those of successive places from the
// first; a number below nought skips so many places without any. They are written as
// varints, in base64: most have neighbours and are small, so this takes one or two bytes
// for each. A list of numbers would take ten times as long to read.
type histogramText struct {
	N      int64   `json:"n"`
	SumNS  float64 `json:"sum_ns"`
	MaxNS  int64   `json:"max_ns"`
	Counts []byte  `json:"counts"`
}

func (h *Histogram) text() histogramText {
	t := histogramText{N: h.n, SumNS: h.sum, MaxNS: h.max, Counts: []byte{}}
	skip := int64(0)
	for _, n := range h.counts {
		if n == 0 {
			skip--
			continue
		}
		if skip < 0 {
			t.Counts = binary.AppendVarint(t.Counts, skip)
			skip = 0
		}
		t.Counts = binary.AppendVarint(t.Counts, int64(n))
	}
	return t
}

// MarshalJSON writes an exact and compact form.
func (h *Histogram) MarshalJSON() ([]byte, error) { return json.Marshal(h.text()) }

// UnmarshalJSON refuses what no histogram can have recorded, and what MarshalJSON would
// have written otherwise.
func (h *Histogram) UnmarshalJSON(text []byte) error {
	var t histogramText
	err := decode(text, &t)
	if err == nil {
		*h, err = t.histogram()
	}
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	return nil
}

func (t *histogramText) histogram() (Histogram, error) {
	h := Histogram{counts: make([]uint32, places), n: t.N, sum: t.SumNS, max: t.MaxNS}
	at, last, n, least, most := 0, 0, int64(0), 0.0, 0.0
	for rest := t.Counts; len(rest) > 0; {
		c, size := binary.Varint(rest)
		if size <= 0 || c < -places || c > MaxCounted {
			return h, fmt.Errorf("counts has no usable number %d bytes before its end", len(rest))
		}
		rest = rest[size:]
		if c < 0 {
			at += int(-c)
			continue
		}
		if at >= places {
			return h, errors.New("counts has more places than there are")
		}
		h.counts[at] = uint32(c)
		n += c
		least += float64(c) * float64(lower(at))
		most += float64(c) * float64(upper(at))
		last = at
		at++
	}
	const rounded = 1e-6 // of a sum of so many numbers, at the most
	switch {
	case n == 0:
		return h, errors.New("no counts; leave the histogram out")
	case n != t.N || n > MaxCounted:
		return h, fmt.Errorf("n is %d, and its counts add up to %d", t.N, n)
	case !bytes.Equal(h.text().Counts, t.Counts):
		return h, errors.New("counts could be written shorter")
	case t.MaxNS < lower(last) || t.MaxNS > upper(last):
		return h, fmt.Errorf("max_ns is %d, and the last count is from %d to %d", t.MaxNS, lower(last), upper(last))
	case !(t.SumNS >= least*(1-rounded) && t.SumNS <= most*(1+rounded)):
		return h, fmt.Errorf("sum_ns is %v, and its counts make %v to %v", t.SumNS, least, most)
	}
	return h, nil
}
