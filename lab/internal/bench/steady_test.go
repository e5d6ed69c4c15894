package bench

import (
	"math"
	"math/rand/v2"
	"testing"
)

// turnsOf makes up turns of a server whose request costs at(s) after s seconds of load, with
// noise from turn to turn.
func turnsOf(n int, noise float64, seed uint64, at func(s float64) float64) (out []turn) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		cost := at((float64(i)+0.5)*lookSlot.Seconds()) * (1 + noise*r.NormFloat64())
		out = append(out, turn{requests: 10_000, cpu: 10_000 * cost})
	}
	return out
}

// looked judges a server as a look does, and gives how many turns that took.
func looked(turns []turn) (took, after int, is bool) {
	var seen []turn
	after, is, _ = until(&seen, len(turns), len(turns), func(n int) error {
		seen = turns[:len(seen)+n]
		return nil
	})
	return len(seen), after, is
}

// Of a hundred servers of each kind so many may be misjudged. The rest of a falling cost is what a
// block measures too much.
func TestAServerIsWarmWhenItsCostIsSteady(t *testing.T) {
	level := func(float64) float64 { return 1 }
	atOnce := func(took, after int, is bool) bool { return is && took <= 3*firstTurns && after <= 1 }
	within := func(share float64, at func(float64) float64) func(int, int, bool) bool { // of its cost in the end, once it is warm
		return func(_, after int, is bool) bool {
			return !is || at(float64(after)*lookSlot.Seconds())/at(1000)-1 <= share
		}
	}
	falls := func(by, over float64) func(s float64) float64 {
		return func(s float64) float64 { return 1 + by*math.Exp(-s/over) }
	}
	tail := func(s float64) float64 { return 1 + 1/(1+4*s) }
	steps := func(s float64) float64 {
		return map[bool]float64{true: 3, false: 1}[s < 0.7] + 5*math.Exp(-s/0.2)
	}
	for name, c := range map[string]struct {
		turns int
		noise float64
		at    func(s float64) float64
		right func(took, after int, is bool) bool
		most  int
	}{
		"steady from the start":    {200, 0.04, level, atOnce, 15},
		"scatter alone":            {100, 0.25, level, func(_, _ int, is bool) bool { return is }, 2},
		"a cost that goes on":      {100, 0.02, func(s float64) float64 { return 1 + 0.2*s }, func(_, _ int, is bool) bool { return !is }, 0},
		"falls fast":               {300, 0.02, falls(4, 0.3), within(0.15, falls(4, 0.3)), 2},
		"falls as a JVM's":         {300, 0.02, falls(9, 1.5), within(0.15, falls(9, 1.5)), 2},
		"falls slowly":             {300, 0.02, falls(1, 4), within(0.15, falls(1, 4)), 25},
		"falls in noise":           {300, 0.08, falls(9, 1.5), within(0.25, falls(9, 1.5)), 2},
		"falls with a long tail":   {300, 0.02, tail, within(0.15, tail), 25},
		"falls in two steps":       {300, 0.02, steps, within(0.15, steps), 2},
		"falls with large scatter": {100, 0.03, falls(2, 0.2), within(0.1, falls(2, 0.2)), 2},
	} {
		wrong := 0
		for seed := range uint64(100) {
			if !c.right(looked(turnsOf(c.turns, c.noise, seed, c.at))) {
				wrong++
			}
		}
		if wrong > c.most {
			t.Errorf("%s: misjudged %d of 100", name, wrong)
		}
	}
	if _, _, is := looked(make([]turn, firstTurns)); is {
		t.Error("steady without a request")
	}
}

func TestAServerIsLookedAtUntilACompilerHasCounted(t *testing.T) {
	var all []turn // of a server that is cheap after 20,000 answers
	for n := range 100 {
		all = append(all, turn{300, 300 * map[bool]float64{true: 300e-6, false: 60e-6}[300*n < 20_000]})
	}
	var seen []turn
	load := func(n int) error {
		seen = all[:len(seen)+n]
		return nil
	}
	if _, is, _ := until(&seen, 20, 75, load); is || len(seen) != 75 {
		t.Errorf("steady %v after %d turns, where 75 reach that many answers", is, len(seen))
	}
	seen = nil
	if _, is, _ := until(&seen, 20, 70, load); !is || len(seen) != 18 {
		t.Errorf("steady %v after %d turns, where no time reaches that many answers", is, len(seen))
	}
}
