// Package event has what the producer of events and the sink share: the form of an event, what the sink asks and
// the producer answers, and how both report durations.
//
// An event begins with its number and the time when it was due, so that the sink alone can tell which events
// are missing and which are late. The rest is filling.
package event

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Header is the number of bytes of an event before the filling.
const Header = 16

// MaxRate is the highest rate of events a second.
const MaxRate = 64_000_000

// SizeHeader is the HTTP header with the size of each event of a batch. The batch's body is its events, one
// after the other.
const SizeHeader = "Event-Bytes"

// Put writes an event's number and due time, in Unix nanoseconds.
func Put(raw []byte, number uint64, due int64) {
	binary.LittleEndian.PutUint64(raw, number)
	binary.LittleEndian.PutUint64(raw[8:], uint64(due))
}

// Get reads what Put wrote.
func Get(raw []byte) (number uint64, due int64) {
	return binary.LittleEndian.Uint64(raw), int64(binary.LittleEndian.Uint64(raw[8:]))
}

// An Ask is what a sink asks of the producer, as JSON on a TCP connection. Each is answered by Figures. The first
// begins the connection's one run, which ends with it.
type Ask struct {
	Sink string `json:"sink,omitempty"` // the address on loopback to which the run sends its batches
	Rate int    `json:"rate,omitempty"` // of the run; 0: the producer's own
	// Lasts is for how long events fall due; 0: until the stop. A rate that is too high can leave the producer
	// no time to receive one.
	Lasts time.Duration `json:"lasts,omitempty"`
	Stop  bool          `json:"stop,omitempty"` // once all is sent
}

// Figures are the producer's figures since the start of its run.
type Figures struct {
	Error string `json:"error,omitempty"` // why it did not do what it was asked

	Offered int64 `json:"offered"` // fell due
	Added   int64 `json:"added"`   // the variant took them
	Logged  int64 `json:"logged"`  // the sum of the events in log lines
	Failed  int64 `json:"failed"`  // given up, also since the run was stopped

	Interval float64 `json:"interval_s"`
	// Durations since the figures before; nil if nothing was timed.
	Add     *Spread `json:"add_s,omitempty"`
	PaceLag *Spread `json:"pace_lag_s,omitempty"`
}

// Since is the figures with only what was counted after earlier ones.
func (f Figures) Since(earlier Figures) Figures {
	f.Offered -= earlier.Offered
	f.Added -= earlier.Added
	f.Logged -= earlier.Logged
	f.Failed -= earlier.Failed
	return f
}

// A Spread summarises how long something took, in seconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// Times collects durations from several goroutines in a fixed amount of memory: to three digits, in steps of
// 10 nanoseconds. What takes longer than two minutes counts as two minutes.
type Times struct {
	mu    sync.Mutex
	steps *hdrhistogram.Histogram
}

const (
	step    = 10 * time.Nanosecond
	longest = 2 * time.Minute
	digits  = 3
)

// Add adds one duration.
func (t *Times) Add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps == nil {
		t.steps = hdrhistogram.New(1, int64(longest/step), digits)
	}
	_ = t.steps.RecordValue(int64(min(max(d, 0), longest) / step)) // always within its bounds
}

// Spread summarises the durations added since it was called before; nil if there are none.
func (t *Times) Spread() *Spread {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.steps == nil || t.steps.TotalCount() == 0 {
		return nil
	}
	at := func(percent float64) float64 {
		return (time.Duration(t.steps.ValueAtQuantile(percent)) * step).Seconds()
	}
	s := &Spread{at(50), at(99)}
	t.steps.Reset()
	return s
}
