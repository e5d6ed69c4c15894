package telemetry

import (
	"math/rand/v2"
	"testing"
	"time"
)

// paced gives the times of samples and surveys over a time, from the cost of
// each, where each wakes up a little late.
func paced(window, sample, look, lasts time.Duration, r *rand.Rand) (samples, surveys []time.Duration) {
	p := pacing{window: window}
	for now := time.Duration(0); now < lasts; {
		if p.due(now) {
			p.surveyed(now, look)
			surveys = append(surveys, now)
			now += look
		}
		samples = append(samples, now)
		now += sample
		now += p.sampled(sample) + time.Duration(r.Int64N(int64(5*time.Millisecond)))
	}
	return samples, surveys
}

func within(all []time.Duration, from, to time.Duration) (n int) {
	for _, at := range all {
		if at >= from && at <= to {
			n++
		}
	}
	return n
}

// Gates use differences between surveys, so every window must have two,
// wherever it begins.
func TestEveryWindowHasTwoSurveys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, window := range []time.Duration{700 * time.Millisecond, time.Second, 1100 * time.Millisecond,
		1200 * time.Millisecond, 1500 * time.Millisecond, 2 * time.Second, 2500 * time.Millisecond, 5 * time.Second,
		10 * time.Second} {
		for _, cost := range []time.Duration{100 * time.Microsecond, 2 * time.Millisecond, 6 * time.Millisecond,
			20 * time.Millisecond} {
			samples, surveys := paced(window, cost/2, cost, 20*window, r)
			for range 300 {
				from := time.Duration(r.Int64N(int64(18 * window)))
				if n := within(surveys, from, from+window); n < 2 {
					t.Fatalf("a window of %v from %v has %d surveys, where each costs %v", window, from, n, cost)
				}
				if n := within(samples, from, from+window); n < 2 || window >= time.Second && n < 3 {
					t.Fatalf("a window of %v from %v has %d samples, where each costs %v", window, from, n, cost/2)
				}
			}
		}
	}
}

// In long windows at most every other sample has a survey, and a costly survey
// is as rare as its share of a core requires.
func TestLongWindowsHaveNoMoreSurveysThanTheyNeed(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		window, sample, look time.Duration
		most                 time.Duration // between two surveys
	}{
		{10 * time.Second, time.Millisecond, time.Millisecond, 2 * interval},
		{1500 * time.Millisecond, time.Millisecond, time.Millisecond, 2 * interval},
		{0, time.Millisecond, time.Millisecond, 2 * interval},
		{10 * time.Second, time.Millisecond, 20 * time.Millisecond, 2 * time.Second},
		{10 * time.Second, 10 * time.Millisecond, 10 * time.Millisecond, time.Second},
	} {
		const lasts = 100 * time.Second
		samples, surveys := paced(c.window, c.sample, c.look, lasts, r)
		if n, most := len(surveys), int(lasts/c.most)+1; n > most {
			t.Errorf("%d surveys in %v, want %d at the most; a window of %v, and each costs %v", n, lasts, most, c.window,
				c.look)
		}
		if spent := time.Duration(len(samples)) * c.sample; spent > lasts/100+c.sample {
			t.Errorf("samples cost %v in %v", spent, lasts)
		}
	}
}
