package telemetry

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

const (
	// interval is the time between samples unless sampling costs too much.
	interval = 250 * time.Millisecond
	// surveyEvery is that between surveys, which cost several times as much and are
	// taken with a sample.
	surveyEvery = time.Second
	// budget is the share of one core the sampler aims to use at most.
	budget = gate.SamplerShare
	// atLeast is how many intervals a measured window is cut into at the least.
	atLeast = 5
	// apart is the share of a window by which surveys may be apart. What changes
	// between two of them is a figure, so two have to fall into every window,
	// wherever it begins; a twentieth for each is for waking up late.
	apart = 0.45
)

// A pacing says when to sample and when to survey. Many workers make a sample
// dear, many processes a survey; they are then taken less often rather than at the
// server's expense, but a few times a window in any case.
type pacing struct {
	window time.Duration // 0: unknown
	last   time.Duration // when the last survey was, since sampling began
	wait   time.Duration // for the next one by its cost; 0: there was none
	pause  time.Duration // between the last two samples
}

// surveyed is told of a survey, and of its cost in CPU time.
func (p *pacing) surveyed(now, cost time.Duration) {
	p.last, p.wait = now, max(surveyEvery, afford(cost))
}

// sampled is told what a sample cost, and says how long to wait for the next.
func (p *pacing) sampled(cost time.Duration) time.Duration {
	p.pause = max(interval, afford(cost))
	if p.window > 0 {
		p.pause = min(p.pause, max(p.window/atLeast, interval))
	}
	return p.pause
}

// due tells whether a survey is to be taken with the sample that is taken now:
// when its time has come, and when the next sample would be too late for it.
func (p *pacing) due(now time.Duration) bool {
	since := now - p.last
	if p.wait == 0 || since >= p.wait {
		return true
	}
	return p.window > 0 && since+p.pause > time.Duration(apart*float64(p.window))
}

func afford(cost time.Duration) time.Duration { return time.Duration(float64(cost) / budget) }
