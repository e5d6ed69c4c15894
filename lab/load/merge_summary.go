package load

import "fmt"

// mergeSummaries adds up what parts say of targets. Requests and bytes are those of the
// merged slots that count.
func mergeSummaries(whole *Plan, parts []Part, slots []SlotReport) (Summary, error) {
	first := parts[0].Report.Summary
	sum := Summary{Version: first.Version, Start: first.Start, Finish: first.Finish, LatencyStep: LatencyStep,
		Targets: []TargetSummary{}}
	latency, lags := make([]*Histogram, len(whole.Targets)), make([]*Histogram, len(whole.Targets))
	for _, t := range whole.Targets {
		sum.Targets = append(sum.Targets, TargetSummary{Name: t.Name})
	}
	for _, s := range slots {
		if whole.Slots[s.Slot].Counts {
			sum.Targets[s.Target].Requests += s.Requests
			sum.Targets[s.Target].Bytes += s.Bytes
		}
	}
	for i := range parts {
		p := &parts[i]
		s := &p.Report.Summary
		sum.Threads += s.Threads
		if s.Start.Before(sum.Start) {
			sum.Start = s.Start
		}
		if s.Finish.After(sum.Finish) {
			sum.Finish = s.Finish
		}
		for own, of := range p.Targets {
			t := &s.Targets[own]
			if len(whole.Targets[of].Requests) > 0 {
				return Summary{}, fmt.Errorf("target %q: what came of each of several requests is merged by nobody yet", t.Name)
			}
			sum.Targets[of].add(p.Name, t)
			for _, m := range []struct {
				to   **Histogram
				from *Histogram
			}{{&latency[of], t.Histogram}, {&lags[of], t.Lags}} {
				if err := mergeInto(m.to, m.from); err != nil {
					return Summary{}, fmt.Errorf("target %q: %w", t.Name, err)
				}
			}
		}
	}
	for i := range sum.Targets {
		t := &sum.Targets[i]
		if t.Histogram = latency[i]; t.Histogram != nil {
			t.Latency = t.Histogram.Latency()
		}
		if t.Lags = lags[i]; t.Lags != nil {
			t.SendLag = t.Lags.SendLag()
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

func mergeInto(to **Histogram, from *Histogram) error {
	switch {
	case from == nil:
		return nil
	case *to == nil:
		*to = NewHistogram()
	case (*to).N()+from.N() > MaxCounted:
		return fmt.Errorf("more than %d answers, which no histogram holds", int64(MaxCounted))
	}
	(*to).Merge(from)
	return nil
}
