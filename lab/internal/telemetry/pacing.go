package telemetry

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

const (
	// interval is the time between samples unless sampling costs too much.
	interval = 250 * time.Millisecond
	// surveyEvery is the time between surveys. A survey costs several times as
	// much as a sample and is taken together with one.
	surveyEvery = time.Second
	// budget is the share of one core that the sampler may use.
	budget = gate.SamplerShare
	// atLeast is the least number of sampling intervals in a measured window.
	atLeast = 5
	// apart is the largest distance of two surveys, as a share of the window.
	// Figures are differences between surveys, so two must fall into every window,
	// wherever it begins. The missing twentieth allows for each waking up late.
	apart = 0.45
)

// A pacing says when to sample and when to survey. Many workers make samples
// costly, many processes make surveys costly. They are then taken less often,
// so as not to take CPU time from the server, but a few times a window in any
// case.
type pacing struct {
	window time.Duration // 0: unknown
	last   time.Duration // time of the last survey since sampling began
	wait   time.Duration // until the next survey, by the cost of the last; 0: no survey yet
	pause  time.Duration // between the last two samples
}

// surveyed records a survey's time and its cost in CPU time.
func (p *pacing) surveyed(now, cost time.Duration) {
	p.last, p.wait = now, max(surveyEvery, afford(cost))
}

// sampled takes a sample's cost in CPU time and returns how long to wait for
// the next.
func (p *pacing) sampled(cost time.Duration) time.Duration {
	p.pause = max(interval, afford(cost))
	if p.window > 0 {
		p.pause = min(p.pause, max(p.window/atLeast, interval))
	}
	return p.pause
}

// due tells whether to take a survey with the present sample: its time has
// come, or it would come too late with the next sample.
func (p *pacing) due(now time.Duration) bool {
	since := now - p.last
	if p.wait == 0 || since >= p.wait {
		return true
	}
	return p.window > 0 && since+p.pause > time.Duration(apart*float64(p.window))
}

func afford(cost time.Duration) time.Duration { return time.Duration(float64(cost) / budget) }
