package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Each of these probabilities can be counted by hand.
func TestChancesOfBeingLeftOut(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12+1e-9*want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("one of two gets none of three", leftOut(3, 2, 1, 0), 2./8)
	near("three of four get none of ten", leftOut(10, 4, 3, 0), 4*math.Pow(0.25, 10))
	near("one of two gets at most one of three", leftOut(3, 2, 1, 1), 1)
	near("one of four gets at most one of four", leftOut(4, 4, 1, 1), 1) // a bound: 4 times 189/256
	near("all of them cannot", leftOut(9, 3, 3, 0), 0)
	near("nobody has connections", leftOut(0, 3, 2, 0), 1)
	sum := 0.0
	for n := range 41 {
		sum += binomial(40, n, 0.3)
	}
	near("something happens", sum, 1)
	near("what is certain", binomial(5, 5, 1)+binomial(5, 4, 1), 1)
	// Of three connections to two workers, one worker gets all with a probability
	// of a quarter.
	if got := []int{busiest(3, 2, 0.2), busiest(3, 2, 0.3), busiest(3, 1, 1e-9)}; !slices.Equal(got, []int{3, 2, 3}) {
		t.Errorf("the busiest has %v", got)
	}
}

// deal gives each connection to a random worker. A connection costs its worker
// up to twice what another costs.
func deal(r *rand.Rand, connections, workers int) (serving, active int) {
	cpu, held := make([]float64, workers), make([]int, workers)
	for range connections {
		held[r.IntN(workers)]++
	}
	for i, n := range held {
		cpu[i] = float64(n) * (1 + r.Float64())
		if n > 0 {
			serving++
		}
	}
	most := slices.Max(cpu)
	for _, c := range cpu {
		if c > 0 && c >= ActiveShare*most {
			active++
		}
	}
	return serving, active
}

// Chance alone closes no gate, at any number of connections.
func TestChanceAloneLeavesNoWorkerIdle(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 7))
	for _, workers := range []int{1, 2, 3, 4, 8, 10, 32} {
		for _, connections := range []int{1, 2, 5, 10, 25, 50, 100, 400} {
			for range 200 {
				serving, active := deal(r, connections, workers)
				a := Asked{Workers: workers, Connections: connections}
				for _, f := range Hold(IdleWorker, map[string]float64{"workers_serving": float64(serving),
					"workers_active": float64(active)}, a) {
					t.Fatalf("%d connections, %d workers: %+v", connections, workers, f)
				}
			}
		}
	}
}

// If only one worker takes connections, this shows from a dozen connections on;
// if all but one do, from a few dozen a worker.
func TestIdleWorkersAreTold(t *testing.T) {
	for _, c := range []struct {
		connections, workers, serving, active int
		closes                                []string
	}{
		{100, 4, 1, 1, []string{"workers_serving", "workers_active"}},
		{100, 4, 3, 4, []string{"workers_serving"}},
		{100, 4, 4, 2, []string{"workers_active"}}, // they hold connections and do not answer
		{100, 4, 4, 4, nil},
		{100, 4, 5, 5, nil},
		{100, 4, 0, 0, []string{"workers_serving", "workers_active"}},
		{100, 10, 1, 1, []string{"workers_serving", "workers_active"}},
		{100, 10, 9, 9, nil}, // chance of one in four thousand
		{100, 10, 8, 8, []string{"workers_serving"}},
		{12, 4, 1, 1, []string{"workers_serving"}},
		{10, 4, 1, 1, nil}, // chance of four in a million
		{100, 1, 1, 1, nil},
		{100, 1, 0, 0, []string{"workers_serving", "workers_active"}},
	} {
		var closes []string
		m := map[string]float64{"workers_serving": float64(c.serving), "workers_active": float64(c.active)}
		for _, f := range Hold(IdleWorker, m, Asked{Workers: c.workers, Connections: c.connections}) {
			if !f.Missing() {
				closes = append(closes, f.Metric)
			}
		}
		if !slices.Equal(closes, c.closes) {
			t.Errorf("%+v: closed by %v", c, closes)
		}
	}
}

// If a claim is about the number of workers, only the existing ones are judged.
func TestIdleWorkersWhereTheirNumberIsClaimed(t *testing.T) {
	m := map[string]float64{"workers": 2, "workers_serving": 2, "workers_active": 2}
	a := Asked{Workers: 4, Connections: 100}
	if len(Hold(IdleWorker, m, a)) == 0 {
		t.Error("two of four serve, and the gate stands open")
	}
	a.Claimed = []string{"workers"}
	if f := Hold(IdleWorker, m, a); len(f) > 0 {
		t.Errorf("two of two serve: %+v", f)
	}
	m["workers_serving"] = 1
	if len(Hold(IdleWorker, m, a)) == 0 {
		t.Error("one of two serves, and the gate stands open")
	}
	if f := Hold(IdleWorker, map[string]float64{"workers": 5, "workers_serving": 4, "workers_active": 4}, a); len(f) > 0 {
		t.Errorf("as many serve as were asked for, of more: %+v", f)
	}
	a.Claimed = []string{"workers_active"}
	if f := Hold(IdleWorker, m, a); len(f) > 0 {
		t.Errorf("that is what the claim is about: %+v", f)
	}
}
