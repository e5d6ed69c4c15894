package load

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
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
	return r, r.whole()
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

// whole checks that slots and summary are consistent.
func (r *Report) whole() error {
	for _, s := range r.Slots {
		if s.Target >= len(r.Summary.Targets) {
			return fmt.Errorf("slot %d is of target %d, and the summary has %d", s.Slot, s.Target, len(r.Summary.Targets))
		}
	}
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
	if s.Slot < 0 || s.Target < 0 {
		return errors.New("an index below nought")
	}
	f := figures{}
	f.count("at_ns", s.AtNS)
	f.count("requests", s.Requests)
	f.count("bytes", s.Bytes)
	f.amount("seconds", s.Seconds)
	f.amount("fill_s", s.FillS)
	f.amount("idle_cpu_s", s.IdleCPUS)
	f.amount("client_cpu_s", s.ClientCPUS)
	f.amount("busiest_thread_s", s.BusiestThreadS)
	f.amount("silence_s", s.SilenceS)
	f.amount("late_s", s.LateS)
	for _, v := range s.ServerCPUS {
		f.amount("server_cpu_s", v)
	}
	if w := s.Wire; w != nil {
		f.count("wire/tx_bytes", w.TxBytes)
		f.count("wire/tx_packets", w.TxPackets)
		f.count("wire/rx_bytes", w.RxBytes)
		f.count("wire/rx_packets", w.RxPackets)
		f.count("wire/drops", w.Drops)
	}
	switch {
	case f.err != nil:
		return f.err
	case s.Failed == "" && s.Seconds == 0:
		return errors.New("/seconds is 0, and it did not fail")
	case s.Failed != "" && (s.Seconds != 0 || s.Requests != 0):
		return errors.New("it failed, and has figures")
	}
	return nil
}

func (s *Summary) check() error {
	f := figures{}
	if s.Threads < 1 || s.Finish.Before(s.Start) {
		return errors.New("/summary: no threads, or it ended before it began")
	}
	if !(s.LatencyStep > 0 && s.LatencyStep < 1) {
		return fmt.Errorf("/summary/latency_step is %v, no share", s.LatencyStep)
	}
	for i := range s.Targets {
		f.target(&s.Targets[i])
		if f.err != nil {
			return fmt.Errorf("/summary/targets/%d: %w", i, f.err)
		}
	}
	return nil
}

// largest limits every figure: above it a float64 no longer holds every whole number.
const largest = 1 << 53

// figures keeps the first impossible figure as an error.
type figures struct{ err error }

func (f *figures) count(name string, n int64) {
	switch {
	case f.err != nil:
	case n < 0:
		f.err = fmt.Errorf("%s is %d, below nought", name, n)
	case n > largest && name != "at_ns":
		f.err = fmt.Errorf("%s is %d, more than there can be", name, n)
	}
}

func (f *figures) amount(name string, v float64) {
	if (v < 0 || math.IsNaN(v) || v > largest) && f.err == nil {
		f.err = fmt.Errorf("%s is %v, no amount", name, v)
	}
}

func (f *figures) rising(name string, vs ...float64) {
	for i, v := range vs {
		f.amount(name, v)
		if i > 0 && v < vs[i-1] && f.err == nil {
			f.err = fmt.Errorf("%s does not rise", name)
		}
	}
}

func (f *figures) target(t *TargetSummary) {
	f.count("requests", t.Requests)
	f.count("bytes", t.Bytes)
	f.count("non2xx", t.Non2xx)
	f.count("errors", t.Errors)
	f.count("timeouts", t.Timeouts)
	f.count("resets", t.Resets)
	f.count("mismatches", t.Mismatches)
	f.count("compared", t.Compared)
	f.count("answered", t.Answered)
	f.amount("request_bytes", t.RequestBytes)
	f.count("unanswered", t.Unanswered)
	if l := t.Latency; l != nil {
		f.rising("latency_s", l.P50, l.P90, l.P99, l.P999, l.Max)
		f.rising("latency_s", 0, l.Mean, l.Max)
		f.count("latency_s/n", l.N)
		if f.err == nil && t.Unanswered > l.N {
			f.err = fmt.Errorf("unanswered is %d, and latency_s/n is %d", t.Unanswered, l.N)
		}
	}
	if l := t.SendLag; l != nil {
		f.rising("send_lag_s", l.P50, l.P99, l.Max)
	}
	if l := t.Histogram; l != nil && f.err == nil && (t.Latency == nil || *l.Latency() != *t.Latency) {
		f.err = errors.New("latency_s is not that of the histogram")
	}
	if l := t.Lags; l != nil && f.err == nil && (t.SendLag == nil || *l.SendLag() != *t.SendLag) {
		f.err = errors.New("send_lag_s is not that of lags")
	}
	for i := range t.ByRequest {
		one := &t.ByRequest[i]
		f.target(&TargetSummary{Non2xx: one.Unexpected, Errors: one.Lost, Compared: one.Compared, Mismatches: one.Mismatches,
			Mismatch: t.Mismatch, Latency: one.Latency, Histogram: one.Histogram})
	}
	if f.err == nil && t.Mismatches > 0 && t.Mismatch == "" {
		f.err = errors.New("mismatches, and the first is not described")
	}
}
