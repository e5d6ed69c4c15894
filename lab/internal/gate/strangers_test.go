package gate

import (
	"slices"
	"testing"
)

// Others that ran more beside one condition in block after block take back what they may explain.
func TestWhatOthersRanFollowsACondition(t *testing.T) {
	always := slices.Repeat([]float64{0.1}, 12)
	mixed := slices.Repeat([]float64{0.1, -0.1}, 6)
	for _, c := range []struct {
		name  string
		more  []float64
		ratio float64
		is    bool
	}{
		{"in all blocks", always, 1.05, true},
		{"by less than tells", slices.Repeat([]float64{0.01}, 12), 1.01, false},
		{"a difference that it does not explain", always, 1.5, false},
		{"now this one, now that", mixed, 1.05, false},
		{"too few blocks", always[:5], 1.05, false},
		{"none was seen", nil, 1.05, false},
	} {
		if _, _, _, is := Follows(c.more, c.ratio); is != c.is {
			t.Errorf("%s: %v", c.name, is)
		}
	}
}
