// Package shaper reads the counters of the queue that shapes a wire.
//
// Its stance: these are the counters to hold against a line rate, because the
// shaper charges every segment with its heads. The interface's own counters
// see one large packet where segmentation offload is on, and miss the heads of
// all but its first segment.
//
// Its limit: a reading is what left the queue, not what arrived. On a pair of
// virtual interfaces those are the same but for packets in the air.
package shaper

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Reading is the counters of one direction of a wire at one time.
type Reading struct {
	At      time.Time `json:"at"`
	Bytes   uint64    `json:"bytes"`   // sent, with the heads of every segment
	Packets uint64    `json:"packets"` // segments sent
	Drops   uint64    `json:"drops"`   // packets that found the queue full
	CPUS    float64   `json:"cpu_s"`   // CPU time the reading process has used
}

// Every is the time between readings. One costs about half a millisecond of
// CPU time on each side; a window of a second still holds two.
const Every = 500 * time.Millisecond

// mark begins a line that holds a reading.
const mark = "shaper "

// Line is a reading as the watching process prints it.
func (r Reading) Line() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of plain fields
	}
	return mark + string(b)
}

// Parse reads such a line; ok is false for any other.
func Parse(line string) (r Reading, ok bool, err error) {
	rest, ok := strings.CutPrefix(line, mark)
	if !ok {
		return r, false, nil
	}
	if err := json.Unmarshal([]byte(rest), &r); err != nil || r.At.IsZero() {
		return r, false, fmt.Errorf("not a reading of a shaper: %q", line)
	}
	return r, true, nil
}
