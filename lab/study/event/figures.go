package event

import (
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Figures are the producer's figures since its start.
type Figures struct {
	At        int64 `json:"at"` // Unix nanoseconds
	Offered   int64 `json:"offered"`
	Added     int64 `json:"added"`
	Dropped   int64 `json:"dropped"`
	Failed    int64 `json:"failed"`
	Delivered int64 `json:"delivered"`
	Returned  int64 `json:"returned"`
	Logged    int64 `json:"logged"`
	LogLines  int64 `json:"log_lines"`
	Queued    int64 `json:"queued"` // accepted, and neither delivered nor given up

	Interval float64 `json:"interval_s"`
	// Durations since the last reset; nil if nothing was timed.
	Add     *Spread `json:"add_s,omitempty"`
	PaceLag *Spread `json:"pace_lag_s,omitempty"`

	// Drained says that a producer that was stopped had the time to send
	// everything it held; nil while it runs.
	Drained *bool `json:"drained,omitempty"`
}

// A Spread summarises how long something took, in seconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// The histogram counts in steps of 10 nanoseconds, up to two minutes, to three
// digits. The longest duration is kept exactly.
const (
	step    = 10 * time.Nanosecond
	longest = 2 * time.Minute
	digits  = 3
)

// Times collects durations from several goroutines.
type Times struct {
	mu    sync.Mutex
	count *hdrhistogram.Histogram
	most  time.Duration
	spare *hdrhistogram.Histogram // empty, or nil
}

func histogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longest/step), digits)
}

// Add adds one duration.
func (t *Times) Add(d time.Duration) {
	d = min(max(d, 0), longest)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = histogram()
	}
	_ = t.count.RecordValue(int64(d / step)) // always within its bounds
	t.most = max(t.most, d)
}

// Spread summarises the durations added since the last reset; nil if there are
// none.
func (t *Times) Spread(reset bool) *Spread {
	t.mu.Lock()
	count, most := t.count, t.most
	if count == nil {
		t.mu.Unlock()
		return nil
	}
	if reset {
		// Swapped, so that Add does not wait while the histogram is read.
		t.count, t.most, t.spare = t.spare, 0, nil
	} else {
		count = hdrhistogram.Import(count.Export())
	}
	t.mu.Unlock()

	var s *Spread
	if count.TotalCount() > 0 {
		at := func(p float64) float64 {
			// A histogram returns the upper edge of a value's step.
			return seconds(min(time.Duration(count.ValueAtQuantile(p))*step, most))
		}
		s = &Spread{at(50), at(99), seconds(most)}
	}
	if reset {
		count.Reset()
		t.mu.Lock()
		t.spare = count
		t.mu.Unlock()
	}
	return s
}

// seconds converts d, rounded to the step.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e8) / 1e8 }
