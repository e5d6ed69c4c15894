package event

import (
	"math"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Figures are the producer's, since it was started.
type Figures struct {
	At        int64 `json:"at"` // nanoseconds of Unix
	Offered   int64 `json:"offered"`
	Added     int64 `json:"added"`
	Dropped   int64 `json:"dropped"`
	Failed    int64 `json:"failed"`
	Delivered int64 `json:"delivered"`
	Returned  int64 `json:"returned"`
	Logged    int64 `json:"logged"`
	LogLines  int64 `json:"log_lines"`
	Queued    int64 `json:"queued"` // taken in, and neither delivered nor given up

	Interval float64 `json:"interval_s"`
	// Of the time since they were last reset; nil where nothing was timed.
	Add     *Spread `json:"add_s,omitempty"`
	PaceLag *Spread `json:"pace_lag_s,omitempty"`

	// Drained says, of a producer that was stopped, that its variant had the
	// time to send all that it held.
	Drained *bool `json:"drained,omitempty"`
}

// A Spread says how long something took, in seconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// A histogram counts steps of 10 nanoseconds, up to two minutes, to three
// digits. The longest is kept beside it, exactly.
const (
	step    = 10 * time.Nanosecond
	longest = 2 * time.Minute
	digits  = 3
)

// Times are durations, from several goroutines.
type Times struct {
	mu    sync.Mutex
	count *hdrhistogram.Histogram
	most  time.Duration
	spare *hdrhistogram.Histogram // empty, or nil
}

func histogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(longest/step), digits)
}

// Add adds one.
func (t *Times) Add(d time.Duration) {
	d = min(max(d, 0), longest)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = histogram()
	}
	_ = t.count.RecordValue(int64(d / step)) // within its bounds
	t.most = max(t.most, d)
}

// Spread is that of what was added, since the last time that it was reset; nil
// if that is nothing.
func (t *Times) Spread(reset bool) *Spread {
	t.mu.Lock()
	count, most := t.count, t.most
	if count == nil {
		t.mu.Unlock()
		return nil
	}
	if reset {
		// Who adds does not wait for the reading of it.
		t.count, t.most, t.spare = t.spare, 0, nil
	} else {
		count = hdrhistogram.Import(count.Export())
	}
	t.mu.Unlock()

	var s *Spread
	if count.TotalCount() > 0 {
		at := func(p float64) float64 {
			// A histogram names the upper edge of a value's step.
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

// seconds are those of d, to the step.
func seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e8) / 1e8 }
