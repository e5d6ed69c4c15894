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
		out = append(out, turn{requests: 1000, cpu: 1000 * cost})
	}
	return out
}

// looked judges a server as a look does, and gives how many turns that took.
func looked(turns []turn) (took, after int, is bool) {
	seen, after, is, _ := until(nil, len(turns), func(n int) ([]turn, error) {
		next := turns[took : took+n]
		took += n
		return next, nil
	})
	return len(seen), after, is
}

func TestAServerThatIsSteadyFromTheStartIsWarmAtOnce(t *testing.T) {
	late := 0
	for seed := range uint64(200) {
		took, after, is := looked(turnsOf(200, 0.04, seed, func(float64) float64 { return 10e-6 }))
		if !is {
			t.Fatalf("seed %d: never steady", seed)
		}
		if took > 3*firstTurns || after > 1 {
			late++
		}
	}
	if late > 30 {
		t.Errorf("%d of 200 were not taken for warm soon", late)
	}
}

// What is still to come of a cost that falls is what a block measures too much.
func TestAServerThatWarmsUpIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		noise float64
		at    func(s float64) float64
		most  float64 // that it may cost above its cost in the end when it is taken for warm
	}{
		"fast":             {0.02, func(s float64) float64 { return 1 + 4*math.Exp(-s/0.3) }, 0.15},
		"as a JVM":         {0.02, func(s float64) float64 { return 1 + 9*math.Exp(-s/1.5) }, 0.15},
		"slowly":           {0.02, func(s float64) float64 { return 1 + math.Exp(-s/4) }, 0.15},
		"noisy":            {0.08, func(s float64) float64 { return 1 + 9*math.Exp(-s/1.5) }, 0.25},
		"with a long tail": {0.02, func(s float64) float64 { return 1 + 1/(1+4*s) }, 0.15},
		"in two steps": {0.02, func(s float64) float64 {
			return map[bool]float64{true: 3, false: 1}[s < 0.7] + 5*math.Exp(-s/0.2)
		}, 0.15},
	} {
		early := 0
		for seed := range uint64(100) {
			_, after, is := looked(turnsOf(300, c.noise, seed, c.at))
			if warm := float64(after) * lookSlot.Seconds(); is && c.at(warm)/c.at(1000)-1 > c.most {
				early++
			}
		}
		if early > 25 { // a slow fall is the hardest; all others are never more than 2
			t.Errorf("%s: taken for warm too early in %d of 100", name, early)
		}
	}
}

func TestAServerWhoseCostGoesOnAndOnIsNeverSteady(t *testing.T) {
	for seed := range uint64(100) {
		if took, _, is := looked(turnsOf(100, 0.02, seed, func(s float64) float64 { return 1 + 0.2*s })); is {
			t.Errorf("seed %d: steady after %d turns", seed, took)
		}
	}
}

// A machine that is noisy is no server that never warms up.
func TestScatterAloneIsNotNeverSteady(t *testing.T) {
	never := 0
	for seed := range uint64(200) {
		if _, _, is := looked(turnsOf(100, 0.25, seed, func(float64) float64 { return 1 })); !is {
			never++
		}
	}
	if never > 4 {
		t.Errorf("%d of 200 never steady", never)
	}
}

func TestTurnsWithoutRequestsTellNothing(t *testing.T) {
	if _, _, is := looked(make([]turn, firstTurns)); is {
		t.Error("steady without a request")
	}
}

// The scatter of a cost that falls is no leave to be taken for warm.
func TestAServerIsWarmOnlyWhereItsTurnsCostWhatTheyCostInTheEnd(t *testing.T) {
	for seed := range uint64(100) {
		turns := turnsOf(40, 0.03, seed, func(s float64) float64 {
			switch {
			case s < 0.2:
				return 60e-6
			case s < 0.4:
				return 24e-6 // and from 0.4 s on 20
			}
			return 20e-6
		})
		if after := warmAfter(turns); after < 2 || after > 8 {
			t.Fatalf("seed %d: warm after %d turns", seed, after)
		}
	}
}
