package generator

import (
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
)

// A generator such as autocannon, which does not report how many requests were
// due, still falls short of its rate.
func TestARateThatWasNotAnswered(t *testing.T) {
	start := time.Unix(0, 0)
	for _, c := range []struct {
		rate float64
		want []measure.Fault
	}{
		{0, nil},
		{50, nil},
		{50.5, nil}, // 0.99 of 50.5 is 49.995
		{51, []measure.Fault{{Name: gate.RateShort, Detail: "50.0 requests a second were answered of 51 asked for"}}},
	} {
		r := Of(start, start.Add(2*time.Second), Counts{OK: 100})
		Asked(r, c.rate)
		if !slices.Equal(r.Faults, c.want) {
			t.Errorf("at %v: %v, want %v", c.rate, r.Faults, c.want)
		}
		if asked, open := r.Metrics["asked_rate_rps"]; open != (c.rate > 0) || asked != c.rate {
			t.Errorf("at %v: asked %v", c.rate, asked)
		}
	}
}
