package load

import "time"

// summary adds up the counts of all threads, after they have ended.
func (l *load) summary(begin, end time.Time) *Summary {
	s := &Summary{Version: l.options.Version, Threads: len(l.threads), Start: begin.UTC(), Finish: end.UTC(),
		LatencyStep: LatencyStep, Targets: []TargetSummary{}}
	for i, t := range l.targets {
		sum := TargetSummary{Name: t.Name}
		if t.Protocol == "" {
			sum.RequestBytes = float64(t.mix.size()) / float64(len(t.mix.order))
		}
		for n, r := range l.leader.reports {
			if r.Target == i && l.leader.slots[n].Counts {
				sum.Requests += r.Requests
				sum.Bytes += r.Bytes
			}
		}
		latency, lag, first := NewHistogram(), NewHistogram(), int64(0)
		for _, w := range l.threads {
			a := w.lanes[i]
			for _, c := range a.conns {
				if c.state == isOpen {
					sum.Open++
				}
			}
			sum.Answered += a.requests + a.non2xx
			sum.Non2xx += a.non2xx
			sum.Errors += a.errors
			sum.Timeouts += a.timeouts
			sum.Resets += a.resets
			sum.Reopened += a.reopened
			sum.Unanswered += a.unanswered
			for n := range a.kinds {
				k := &a.kinds[n]
				k.comparer.settle()
				sum.Varies = sum.Varies || k.comparer.varies
				sum.Compared += k.comparer.compared
				for status, n := range k.statuses {
					if sum.Statuses == nil {
						sum.Statuses = map[int]int64{}
					}
					sum.Statuses[status] += n
				}
				if sum.Mismatches += k.comparer.mismatches; sum.Mismatch == "" && k.comparer.mismatch != "" {
					if sum.Mismatch = k.comparer.mismatch; len(a.kinds) > 1 {
						sum.Mismatch = k.heads.of.Label() + ": " + sum.Mismatch
					}
				}
				latency.Merge(k.latency)
			}
			if a.faultAt > 0 && (first == 0 || a.faultAt < first) {
				first, sum.Fault = a.faultAt, a.faultText
			}
			if a.lag != nil {
				lag.Merge(a.lag)
				latency.Merge(a.unsent)
			}
		}
		sum.Latency, sum.SendLag = latency.Latency(), lag.SendLag()
		if l.plan.Raw {
			sum.Histogram = latency.Raw()
		}
		sum.ByRequest = l.byRequest(i)
		s.Targets = append(s.Targets, sum)
	}
	return s
}

// byRequest adds up what all threads counted of each request that the plan names.
func (l *load) byRequest(target int) (all []RequestSummary) {
	for n := range l.plan.Targets[target].Requests {
		sum := RequestSummary{Name: l.targets[target].mix.requests[n].Label()}
		latency := NewHistogram()
		for _, w := range l.threads {
			k := &w.lanes[target].kinds[n]
			sum.Unexpected += k.unexpected
			sum.Lost += k.lost
			sum.Mismatches += k.comparer.mismatches
			sum.Compared += k.comparer.compared
			latency.Merge(k.latency)
		}
		sum.Latency = latency.Latency()
		all = append(all, sum)
	}
	return all
}
