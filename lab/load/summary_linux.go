package main

import (
	"runtime/debug"
	"time"

	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// summary adds up the counts of all threads, after they have ended.
func (l *load) summary(begin, end time.Time) *generator.Summary {
	s := &generator.Summary{Version: version(), Threads: len(l.threads), Start: begin.UTC(), Finish: end.UTC(),
		LatencyStep: generator.LatencyStep, Targets: []generator.TargetSummary{}}
	for i, t := range l.targets {
		sum := generator.TargetSummary{Name: t.Name}
		for n, r := range l.leader.reports {
			if r.Target == i && l.plan.Slots[n].Counts {
				sum.Requests += r.Requests
				sum.Bytes += r.Bytes
			}
		}
		latency, lag, first := generator.NewHistogram(), generator.NewHistogram(), int64(0)
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

// version says from which sources this program was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if s := program.StampOf(info); s.Sources != "" {
			return s.Sources[:min(12, len(s.Sources))]
		}
	}
	return "unknown"
}
