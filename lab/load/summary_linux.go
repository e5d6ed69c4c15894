package load

import "time"

// summary adds up the counts of all threads, after they have ended.
func (l *load) summary(begin, end time.Time) *Summary {
	s := &Summary{Version: l.options.Version, Threads: len(l.threads), Start: begin.UTC(), Finish: end.UTC(),
		LatencyStep: LatencyStep, Targets: []TargetSummary{}}
	for i, t := range l.targets {
		sum := TargetSummary{Name: t.Name}
		for n, r := range l.leader.reports {
			if r.Target == i && l.plan.Slots[n].Counts {
				sum.Requests += r.Requests
				sum.Bytes += r.Bytes
			}
		}
		latency, lag, first := NewHistogram(), NewHistogram(), int64(0)
		for _, w := range l.threads {
			a := w.lanes[i]
			sum.Non2xx += a.non2xx
			sum.Errors += a.errors
			sum.Timeouts += a.timeouts
			sum.Resets += a.resets
			sum.Unanswered += a.unanswered
			sum.Compared += a.comparer.compared
			if sum.Mismatches += a.comparer.mismatches; sum.Mismatch == "" {
				sum.Mismatch = a.comparer.mismatch
			}
			if a.faultAt > 0 && (first == 0 || a.faultAt < first) {
				first, sum.Fault = a.faultAt, a.faultText
			}
			latency.Merge(a.latency)
			if a.lag != nil {
				lag.Merge(a.lag)
			}
		}
		sum.Latency, sum.SendLag = latency.Latency(), lag.SendLag()
		if l.plan.Raw {
			sum.Histogram, sum.Lags = latency.Raw(), lag.Raw()
		}
		s.Targets = append(s.Targets, sum)
	}
	return s
}
