package load

import (
	"cmp"
	"fmt"
	"slices"
)

// mergeSummaries adds up what parts say of targets. Requests and bytes are those of the
// merged slots that count.
func mergeSummaries(whole *Plan, parts []Part, slots []SlotReport) (Summary, error) {
	first := parts[0].Report.Summary
	sum := Summary{Version: first.Version, Start: first.Start, Finish: first.Finish, LatencyStep: LatencyStep,
		Targets: []TargetSummary{}}
	for i := range parts {
		s := &parts[i].Report.Summary
		sum.Threads += s.Threads
		if s.Start.Before(sum.Start) {
			sum.Start = s.Start
		}
		if s.Finish.After(sum.Finish) {
			sum.Finish = s.Finish
		}
	}
	for i, target := range whole.Targets {
		t := TargetSummary{Name: target.Name}
		latency, lags := NewHistogram(), NewHistogram()
		for _, p := range parts {
			own := slices.Index(p.Targets, i)
			if own < 0 {
				continue
			}
			if len(target.Requests) > 0 {
				return Summary{}, fmt.Errorf("target %q: what came of each of several requests is merged by nobody yet", t.Name)
			}
			o := &p.Report.Summary.Targets[own]
			t.add(p.Name, o)
			if err := cmp.Or(latency.mergeUpTo(o.Histogram), lags.mergeUpTo(o.Lags)); err != nil {
				return Summary{}, fmt.Errorf("target %q: %w", t.Name, err)
			}
		}
		t.Histogram, t.Latency = latency.Raw(), latency.Latency()
		t.Lags, t.SendLag = lags.Raw(), lags.SendLag()
		sum.Targets = append(sum.Targets, t)
	}
	for _, s := range slots {
		if whole.Slots[s.Slot].Counts {
			sum.Targets[s.Target].Requests += s.Requests
			sum.Targets[s.Target].Bytes += s.Bytes
		}
	}
	return sum, nil
}

// add adds counts, and keeps the first words of each kind.
func (t *TargetSummary) add(name string, o *TargetSummary) {
	t.Non2xx += o.Non2xx
	t.Errors += o.Errors
	t.Timeouts += o.Timeouts
	t.Resets += o.Resets
	t.Mismatches += o.Mismatches
	t.Compared += o.Compared
	t.Answered += o.Answered
	t.RequestBytes = o.RequestBytes // of one plan
	t.Unanswered += o.Unanswered
	if t.Fault == "" && o.Fault != "" {
		t.Fault = name + ": " + o.Fault
	}
	if t.Mismatch == "" && o.Mismatch != "" {
		t.Mismatch = name + ": " + o.Mismatch
	}
}

// mergeUpTo merges another histogram, if there is one, and both together fit in one.
func (h *Histogram) mergeUpTo(o *Histogram) error {
	switch {
	case o == nil:
	case h.n+o.n > MaxCounted:
		return fmt.Errorf("more than %d answers, which no histogram holds", int64(MaxCounted))
	default:
		h.Merge(o)
	}
	return nil
}
