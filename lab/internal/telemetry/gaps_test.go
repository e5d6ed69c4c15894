package telemetry

import (
	"math"
	"testing"
)

func TestWhoWasHeldAndForHowLongNothingWasSeen(t *testing.T) {
	p := pair()
	middle := sample{at: at(10.4), client: []process{{pid: 20, stopped: true}}}
	w := sampler([]sample{p[0], middle, p[1]}).Between(0, at(10), at(12), 1000)
	if len(w.Stopped) != 1 || w.Stopped[0] != "client" || w.Gap != seconds(1.6) {
		t.Errorf("stopped %v, gap %v; want the client, 1.6 s", w.Stopped, w.Gap)
	}
	if w := whole(sampler(p), 1000); w.Stopped != nil {
		t.Errorf("stopped %v", w.Stopped)
	}
}

// If the machine stands still as the window begins or ends, no two samples inside
// the window are far apart.
func TestAGapAtTheWindowsEdge(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []float64
		want    float64
	}{
		{"none", []float64{9.8, 10.2, 10.8, 11.4, 11.9, 12.2}, 0.6},
		{"at the beginning", []float64{9, 11.4, 11.6, 11.8, 12.1}, 2.4},
		{"at the end", []float64{9.9, 10.2, 10.4, 13}, 2.6},
		{"from before the first sample", []float64{11.5, 11.8}, 1.5},
		{"to behind the last", []float64{9.9, 10.1, 10.3}, 1.7},
		{"all the while", []float64{9, 13}, 4},
		{"no sample at all", nil, 2},
		{"only before and after it", []float64{5, 9.9, 10.3, 10.9, 11.5, 12.1, 19}, 0.6},
	} {
		var samples []sample
		for _, s := range c.samples {
			samples = append(samples, sample{at: at(s)})
		}
		if got := gap(samples, at(10), at(12)); got != seconds(c.want) {
			t.Errorf("%s: a gap of %v, want %v s", c.name, got, c.want)
		}
		if len(samples) > 0 {
			if got := sampler(samples).Between(0, at(10), at(12), 1).Gap; got != seconds(c.want) {
				t.Errorf("%s: the window has a gap of %v, want %v s", c.name, got, c.want)
			}
		}
	}
}

func TestAStepOfTheClockIsSeen(t *testing.T) {
	for _, c := range []struct{ wall, monotonic, want float64 }{{2, 2, 0}, {2.5, 2, 0.5}, {1, 2, 1}} {
		p := pair()
		p[1].at, p[1].mono = at(10+c.wall), seconds(c.monotonic)
		if got := whole(sampler(p), 1000).Metrics["clock_step_s"]; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v s on the wall in %v s: a step of %v, want %v", c.wall, c.monotonic, got, c.want)
		}
	}
	// The clock was set during the warm-up, before the window.
	p := pair()
	p[0].mono, p[1].mono = seconds(5), seconds(7)
	warm := sample{at: at(4), mono: 0}
	if got := sampler([]sample{warm, p[0], p[1]}).Between(0, at(10), at(12), 1).Metrics["clock_step_s"]; got != 1 {
		t.Errorf("a step of %v, want the second by which it was set before", got)
	}
}
