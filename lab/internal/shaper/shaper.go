// Package shaper reads the counters of the queue that shapes a wire.
//
// These counters are compared with the line rate because the shaper charges
// every segment with its headers. With segmentation offload, the interface's
// own counters see one large packet and miss the headers of all but its first
// segment.
//
// A reading is what left the queue, not what arrived. On a pair of virtual
// interfaces these are the same except for packets in transit.
package shaper

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A Reading has the counters of one direction of a wire at one time.
type Reading struct {
	At      time.Time `json:"at"`
	Bytes   uint64    `json:"bytes"`   // sent, with the headers of every segment
	Packets uint64    `json:"packets"` // segments sent
	Drops   uint64    `json:"drops"`   // packets that found the queue full
	CPUS    float64   `json:"cpu_s"`   // CPU time used by the reading process, in seconds
}

// Every is the time between readings. A reading costs about half a millisecond
// of CPU time on each side; a window of a second still has two.
const Every = 500 * time.Millisecond

// mark begins a line with a reading.
const mark = "shaper "

// Line is a reading as the watching process prints it.
func (r Reading) Line() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of plain fields always marshals
	}
	return mark + string(b)
}

// Parse parses such a line; ok is false for any other line.
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
