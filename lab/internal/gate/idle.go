package gate

import "math"

// uneven is how many times the CPU time of another connection one connection
// may cost its worker: a worker with few connections answers fewer requests
// each time it wakes up.
const uneven = 2

// idle closes the gate if fewer workers took part than there are, and chance
// does not explain it. The kernel deals connections to workers by a hash, so
// with few connections some workers get none.
//
// It makes two comparisons. A worker without a connection is idle. A worker
// that has connections but uses less than a tenth of the busiest one's CPU time
// is not active, and having so few connections must be improbable too.
func idle(t *trial) {
	workers := t.Workers
	if n, ok := t.figures["workers"]; ok && t.claimed("workers") {
		workers = min(workers, int(n)) // a wrong number of workers refutes the claim instead
	}
	if workers == 0 || t.Connections == 0 || t.claimed("workers_active") || t.claimed("workers_serving") {
		return
	}
	hold := func(metric string, chance func(idle int) float64) {
		v, ok := t.see(metric, true)
		idle := workers - int(v)
		if !ok || idle <= 0 {
			return
		}
		if p := chance(idle); p < IdleChance {
			t.close(metric, "%.0f of %d workers took part; the hash of %d connections leaves so many out in fewer than one "+
				"of %.0f trials", v, workers, t.Connections, 1/IdleChance)
		}
	}
	hold("workers_serving", func(idle int) float64 { return leftOut(t.Connections, workers, idle, 0) })
	hold("workers_active", func(idle int) float64 {
		most := busiest(t.Connections, workers, IdleChance/2)
		return IdleChance/2 + leftOut(t.Connections, workers, idle, int(uneven*ActiveShare*float64(most)))
	})
}

// leftOut is an upper bound for the probability that a hash gives so many idle
// workers at most few connections each: that any such set of workers has no
// more than that together.
func leftOut(connections, workers, idle, few int) float64 {
	if idle >= workers {
		return 0 // some worker has the connections
	}
	p := float64(idle) / float64(workers)
	together := 0.0
	for n := 0; n <= min(idle*few, connections); n++ {
		together += binomial(connections, n, p)
	}
	return min(1, math.Exp(choose(workers, idle))*together)
}

// busiest is a number of connections that a worker exceeds only with the given
// probability.
func busiest(connections, workers int, chance float64) int {
	more := 0.0
	for n := connections; n > 0; n-- {
		if more += binomial(connections, n, 1/float64(workers)); float64(workers)*more >= chance {
			return n
		}
	}
	return 0
}

// binomial is the probability of n successes in so many tries.
func binomial(tries, n int, p float64) float64 {
	if p >= 1 {
		if n == tries {
			return 1
		}
		return 0
	}
	return math.Exp(choose(tries, n) + float64(n)*math.Log(p) + float64(tries-n)*math.Log1p(-p))
}

// choose is the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	log := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return log(n) - log(k) - log(n-k)
}
