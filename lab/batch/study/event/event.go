// Package event has what the producer of events and the sink share: the form of an event, what the sink asks and
// the producer answers, and how both collect durations.
//
// An event begins with its number and the time when it was due, so that the sink alone can tell which events
// are missing and which are late. The rest is filling.
package event

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

const (
	Header  = 16         // bytes of an event before the filling
	MaxRate = 64_000_000 // events a second
	// SizeHeader is the HTTP header with the size of each event of a batch. The batch's body is its events, one
	// after the other.
	SizeHeader = "Event-Bytes"
)

// Put writes an event's number and due time, in Unix nanoseconds.
func Put(raw []byte, number uint64, due int64) {
	binary.LittleEndian.PutUint64(raw, number)
	binary.LittleEndian.PutUint64(raw[8:], uint64(due))
}

// Get reads what Put wrote.
func Get(raw []byte) (number uint64, due int64) {
	return binary.LittleEndian.Uint64(raw), int64(binary.LittleEndian.Uint64(raw[8:]))
}

// An Ask is what a sink asks of the producer, as JSON on a TCP connection. The answer to each is
// Figures. The first begins the connection's one run, which ends with it.
type Ask struct {
	Port int `json:"port,omitempty"` // of the sink on 127.0.0.1, to which the run sends its batches
	Rate int `json:"rate,omitempty"` // of the run; 0: the producer's own
	// Lasts is for how long events fall due. A rate that is too high can leave the producer no time to receive a stop.
	Lasts time.Duration `json:"lasts,omitempty"`
	Stop  bool          `json:"stop,omitempty"` // after the last event
}

// Figures are the producer's figures since the start of its run.
type Figures struct {
	Offered  int64   `json:"offered"` // fell due
	Added    int64   `json:"added"`   // the variant took them
	Logged   int64   `json:"logged"`  // the sum of the events in log lines
	Failed   int64   `json:"failed"`  // given up, also since the run was stopped
	Interval float64 `json:"interval_s"`
	// Durations since the figures before; nil if nothing was timed.
	Add     *load.Latency `json:"add_s,omitempty"`
	PaceLag *load.Latency `json:"pace_lag_s,omitempty"`
}

// Times collects durations from several goroutines.
type Times struct {
	mu    sync.Mutex
	since *load.Histogram // nil until the first Add
}

// Add adds one duration.
func (t *Times) Add(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since == nil {
		t.since = load.NewHistogram()
	}
	t.since.Add(d.Nanoseconds())
}

// Latency summarises the durations added since it was called before; nil if there are none.
func (t *Times) Latency() (l *load.Latency) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.since != nil {
		l, t.since = t.since.Latency(), nil
	}
	return l
}
