// What the lab's old engine needs: a whole plan and its output as JSON, and what is read of servers and wires.

package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A Line is one line of a generator's output; exactly one field is set.
type Line struct {
	Slot    *SlotReport // a slot has ended
	Held    bool        // all slots have ended; it waits for "end", or the end of its input
	Summary *Summary    // the last line
}

// Write prints a line.
func (l Line) Write(w io.Writer) error {
	var v any
	switch {
	case l.Slot != nil:
		s := *l.Slot
		if s.ServerCPUS == nil {
			s.ServerCPUS = []float64{}
		}
		v = s
	case l.Held:
		v = held{true}
	default:
		v = summed{*l.Summary}
	}
	return json.NewEncoder(w).Encode(v)
}

type held struct {
	Held bool `json:"held"`
}

type summed struct {
	Summary Summary `json:"summary"`
}

// ParseLine parses a line.
func ParseLine(text []byte) (Line, error) {
	var l struct {
		Slot    *int     `json:"slot"`
		Held    bool     `json:"held"`
		Summary *Summary `json:"summary"`
	}
	err := json.Unmarshal(text, &l)
	switch {
	case err == nil && l.Slot != nil:
		s := &SlotReport{}
		return Line{Slot: s}, json.Unmarshal(text, s)
	case err != nil || !l.Held && l.Summary == nil:
		return Line{}, fmt.Errorf("not a line of the load generator: %.100q", text)
	}
	return Line{Held: l.Held, Summary: l.Summary}, nil
}

// mostLine limits a line's length in bytes. A summary without histograms takes a third
// of a megabyte for a thousand targets; a histogram takes some ten kilobytes, and fifty if
// it has something in each of its steps.
const mostLine = 32 << 20

// ReadReport reads a generator's whole output. Without a summary there is no
// report: the generator failed, and has printed why on standard error.
func ReadReport(stdout io.Reader) (*Report, error) {
	r := &Report{Slots: []SlotReport{}}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, mostLine)
	ended := false
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		l, err := ParseLine(lines.Bytes())
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", n, err)
		case l.Slot != nil:
			r.Slots = append(r.Slots, *l.Slot)
		case l.Held:
			r.Held = true
		default:
			r.Summary, ended = *l.Summary, true
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the load generator's output: %w", err)
	}
	if !ended {
		return nil, errors.New("the load generator's output has no summary")
	}
	return r, nil
}

// Fits checks that a report is complete: nothing of the plan is missing.
func (r *Report) Fits(p *Plan) error {
	if len(r.Slots) != len(p.Slots) {
		return fmt.Errorf("%d slots of %d were reported", len(r.Slots), len(p.Slots))
	}
	if len(r.Summary.Targets) != len(p.Targets) {
		return fmt.Errorf("a summary of %d targets, and the plan has %d", len(r.Summary.Targets), len(p.Targets))
	}
	return nil
}

// ReadPlan reads a plan, and returns a reader for the rest of the stream. It
// does not wait for the rest.
func ReadPlan(r io.Reader) (*Plan, io.Reader, error) {
	p, dec := &Plan{}, json.NewDecoder(r)
	dec.DisallowUnknownFields()
	err := dec.Decode(p)
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the plan: %w", err)
	}
	return p, io.MultiReader(dec.Buffered(), r), nil
}

// Write writes a plan in one line, as ReadPlan reads it.
func (p *Plan) Write(w io.Writer) error { return json.NewEncoder(w).Encode(p) }

// A Wire names the shapers that are read at the slots' edges. The server's is
// read in the network namespace of a process, the client's in the generator's.
type Wire struct {
	ServerPID    int    `json:"server_pid"`
	ServerDevice string `json:"server_device"`
	ClientDevice string `json:"client_device"`
}

// A WireReport is what the shapers let pass in the counted time: tx from server
// to client, rx from client to server. Packets are segments.
type WireReport struct {
	TxBytes   int64 `json:"tx_bytes"`
	TxPackets int64 `json:"tx_packets"`
	RxBytes   int64 `json:"rx_bytes"`
	RxPackets int64 `json:"rx_packets"`
	Drops     int64 `json:"drops"` // both directions
}
