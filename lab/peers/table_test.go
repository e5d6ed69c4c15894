package peers

import "slices"

// A table has the measured values: for each peer, one value a round.
type table [][]float64

func newTable() table { return make(table, len(peers)) }

func (t table) add(i int, v float64) { t[i] = append(t[i], v) }

func (t table) median(i int) float64 { return median(t[i]) }
func (t table) least(i int) float64  { return slices.Min(t[i]) }

// ratios are a peer's values divided by ours of the same round.
func (t table) ratios(i int) []float64 {
	base := slices.IndexFunc(peers, func(p peer) bool { return p.name == ours })
	var r []float64
	for k, v := range t[i] {
		r = append(r, v/t[base][k])
	}
	return r
}

func (t table) ratio(i int) float64      { return median(t.ratios(i)) }
func (t table) leastRatio(i int) float64 { return slices.Min(t.ratios(i)) }

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// round measures all peers one after the other, so many times, beginning with another
// peer each time, so that changes of the machine's speed reach all of them.
func round(rounds int, measure func(i int)) {
	for r := range rounds {
		for i := range peers {
			measure((r + i) % len(peers))
		}
	}
}
