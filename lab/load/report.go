package load

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
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
	var kind map[string]json.RawMessage
	if err := json.Unmarshal(text, &kind); err != nil {
		return Line{}, fmt.Errorf("not a line of http_load: %.100q", text)
	}
	var l Line
	var err error
	switch {
	case kind["slot"] != nil:
		l.Slot = &SlotReport{}
		if err = decode(text, l.Slot); err == nil {
			err = l.Slot.check()
		}
		if err != nil {
			err = fmt.Errorf("slot %.20s: %w", kind["slot"], err)
		}
	case kind["held"] != nil:
		var h held
		if err = decode(text, &h); err == nil && !h.Held {
			err = errors.New("/held is false")
		}
		l.Held = true
	case kind["summary"] != nil:
		var s summed
		if err = decode(text, &s); err == nil {
			err = s.Summary.check()
		}
		l.Summary = &s.Summary
	default:
		err = fmt.Errorf("not a line of http_load: %.100q", text)
	}
	if err != nil {
		return Line{}, err
	}
	return l, nil
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
		case ended:
			err = errors.New("a line behind the summary")
		case l.Slot != nil:
			err = r.add(*l.Slot)
		case l.Held && r.Held:
			err = errors.New("it was held twice")
		case l.Held:
			r.Held = true
		default:
			r.Summary, ended = *l.Summary, true
		}
		if err != nil {
			return nil, fmt.Errorf("http_load's output, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("http_load's output: %w", err)
	}
	if !ended {
		return nil, errors.New("http_load's output has no summary")
	}
	for _, s := range r.Slots {
		if s.Target >= len(r.Summary.Targets) {
			return nil, fmt.Errorf("slot %d is of target %d, and the summary has %d", s.Slot, s.Target, len(r.Summary.Targets))
		}
	}
	return r, nil
}

// add appends the next slot's report.
func (r *Report) add(s SlotReport) error {
	if s.Slot != len(r.Slots) {
		return fmt.Errorf("slot %d where %d was to come", s.Slot, len(r.Slots))
	}
	if r.Held {
		return errors.New("a slot after it was held")
	}
	if s.Failed == "" {
		for i := len(r.Slots) - 1; i >= 0; i-- {
			if b := r.Slots[i]; b.Failed == "" {
				if s.AtNS < b.AtNS+int64(b.Seconds*1e9) {
					return fmt.Errorf("slot %d began before slot %d had ended", s.Slot, i)
				}
				break
			}
		}
	}
	r.Slots = append(r.Slots, s)
	return nil
}

// Fits checks that a report is complete and belongs to a plan.
func (r *Report) Fits(p *Plan) error {
	if len(r.Slots) != len(p.Slots) {
		return fmt.Errorf("%d slots of %d were reported", len(r.Slots), len(p.Slots))
	}
	if len(r.Summary.Targets) != len(p.Targets) {
		return fmt.Errorf("a summary of %d targets, and the plan has %d", len(r.Summary.Targets), len(p.Targets))
	}
	requests, bytes := make([]int64, len(p.Targets)), make([]int64, len(p.Targets))
	for i, s := range r.Slots {
		if s.Target != p.Slots[i].Target {
			return fmt.Errorf("slot %d is of target %d, planned was %d", i, s.Target, p.Slots[i].Target)
		}
		if p.Slots[i].Counts {
			requests[s.Target] += s.Requests
			bytes[s.Target] += s.Bytes
		}
		if s.Failed != "" {
			continue
		}
		if n := p.Targets[s.Target].Clocks(); len(s.ServerCPUS) != n {
			return fmt.Errorf("slot %d has %d CPU times of its target, planned were %d", i, len(s.ServerCPUS), n)
		}
		if (s.Wire != nil) != (p.Wire != nil) {
			return fmt.Errorf("slot %d has a wire and the plan has none, or the other way round", i)
		}
	}
	for i, t := range r.Summary.Targets {
		if t.Name != p.Targets[i].Name {
			return fmt.Errorf("target %d is %q, planned was %q", i, t.Name, p.Targets[i].Name)
		}
		if len(t.ByRequest) != len(p.Targets[i].Requests) {
			return fmt.Errorf("target %d: figures of %d requests, planned were %d", i, len(t.ByRequest), len(p.Targets[i].Requests))
		}
		if t.Requests != requests[i] || t.Bytes != bytes[i] {
			return fmt.Errorf("target %d: %d requests and %d bytes, its slots have %d and %d", i, t.Requests, t.Bytes,
				requests[i], bytes[i])
		}
	}
	return nil
}

func (s *SlotReport) check() error {
	switch err := impossible(reflect.ValueOf(s), ""); {
	case err != nil:
		return err
	case s.Failed == "" && s.Seconds == 0:
		return errors.New("/seconds is 0, and it did not fail")
	case s.Failed != "" && (s.Seconds != 0 || s.Requests != 0):
		return errors.New("it failed, and has figures")
	}
	return nil
}

func (s *Summary) check() error {
	if s.Threads < 1 || s.Finish.Before(s.Start) {
		return errors.New("/summary: no threads, or it ended before it began")
	}
	if !(s.LatencyStep > 0 && s.LatencyStep < 1) {
		return fmt.Errorf("/summary/latency_step is %v, no share", s.LatencyStep)
	}
	if err := impossible(reflect.ValueOf(s), "/summary"); err != nil {
		return err
	}
	for i := range s.Targets {
		if err := s.Targets[i].check(); err != nil {
			return fmt.Errorf("/summary/targets/%d: %w", i, err)
		}
	}
	return nil
}

// largest limits every figure: above it a float64 no longer holds every whole number.
const largest = 1 << 53

// impossible names the first figure of a report, or of a part of it, that cannot be.
func impossible(v reflect.Value, at string) error {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return impossible(v.Elem(), at)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := impossible(v.Index(i), fmt.Sprintf("%s/%d", at, i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for field, one := range v.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" { // else it checks itself
				if err := impossible(one, at+"/"+name); err != nil {
					return err
				}
			}
		}
	case reflect.Int, reflect.Int64:
		switch n := v.Int(); {
		case n < 0:
			return fmt.Errorf("%s is %d, below nought", at, n)
		case n > largest && at != "/at_ns":
			return fmt.Errorf("%s is %d, more than there can be", at, n)
		}
	case reflect.Float64:
		if n := v.Float(); !(n >= 0 && n <= largest) {
			return fmt.Errorf("%s is %v, no amount", at, n)
		}
	}
	return nil
}

func (t *TargetSummary) check() error {
	wrong := t.Mismatches > 0
	err := t.Latency.check(t.Histogram)
	for _, one := range t.ByRequest {
		wrong = wrong || one.Mismatches > 0
		err = cmp.Or(err, one.Latency.check(nil))
	}
	switch l := t.SendLag; {
	case err != nil:
		return err
	case t.Latency != nil && t.Unanswered > t.Latency.N:
		return fmt.Errorf("unanswered is %d, and latency_s/n is %d", t.Unanswered, t.Latency.N)
	case l != nil && !slices.IsSorted([]float64{l.P50, l.P99, l.Max}):
		return errors.New("send_lag_s does not rise")
	case wrong && t.Mismatch == "":
		return errors.New("mismatches, and the first is not described")
	}
	return nil
}

// check compares a latency, if there is one, with itself and with its histogram, if there is one.
func (l *Latency) check(h *Histogram) error {
	switch {
	case l != nil && (!slices.IsSorted([]float64{l.P50, l.P90, l.P99, l.P999, l.Max}) || l.Mean > l.Max):
		return errors.New("latency_s does not rise")
	case h != nil && (l == nil || *h.Latency() != *l):
		return errors.New("latency_s is not that of the histogram")
	}
	return nil
}
