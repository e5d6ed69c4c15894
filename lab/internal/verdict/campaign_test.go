package verdict

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// Whole campaigns on made-up machines: a claim is measured visit by visit, and
// stopped at any time. simulation.json has what came out, and the method page prints
// it; `go test ./internal/verdict -run Simulation -simulate` computes it anew, in a
// few minutes.
var simulate = flag.Bool("simulate", false, "compute simulation.json anew")

const (
	blockSD    = 0.02 // of the logarithm of a block's ratio, inside a visit
	campaigns  = 1000 // of a row of the file
	longest    = 100  // visits of a campaign
	openAfter  = 20   // visits after which a claim off its edge is looked at
	fewer      = 60   // campaigns that every run of the tests makes again
	betweenMax = 1.0  // deviation between visits, in block deviations, up to which the level must hold
)

// A noise gives the logarithms of the ratios of a campaign's blocks over the true
// one: the next visit's, of so many blocks. Their median over all campaigns is 0,
// since a difference in every block would not be noise.
type noise struct {
	name  string
	holds bool // whether the bet allows it
	begin func(r *rand.Rand) func(blocks int) []float64
}

// each draws every block by itself.
func each(draw func(r *rand.Rand) float64) func(r *rand.Rand) func(int) []float64 {
	return func(r *rand.Rand) func(int) []float64 {
		return func(blocks int) []float64 {
			out := make([]float64, blocks)
			for i := range out {
				out[i] = draw(r)
			}
			return out
		}
	}
}

// chained is a block that keeps so much of the one before it. Where it goes on, the
// first block of a visit keeps as much of the last of the visit before.
func chained(keeps float64, on bool) func(r *rand.Rand) func(int) []float64 {
	return func(r *rand.Rand) func(int) []float64 {
		at := r.NormFloat64()
		return func(blocks int) []float64 {
			if !on {
				at = r.NormFloat64()
			}
			out := make([]float64, blocks)
			for i := range out {
				at = keeps*at + math.Sqrt(1-keeps*keeps)*r.NormFloat64()
				out[i] = blockSD * at
			}
			return out
		}
	}
}

// shifted has blocks about a level that is one for the whole visit.
func shifted(begin func(r *rand.Rand) func() float64) func(r *rand.Rand) func(int) []float64 {
	return func(r *rand.Rand) func(int) []float64 {
		next := begin(r)
		return func(blocks int) []float64 {
			level := next()
			out := make([]float64, blocks)
			for i := range out {
				out[i] = level + blockSD*r.NormFloat64()
			}
			return out
		}
	}
}

func sign(r *rand.Rand) float64 { return float64(1 - 2*r.IntN(2)) }

// between draws each visit's level by itself.
func between(share float64) func(r *rand.Rand) func(int) []float64 {
	return shifted(func(r *rand.Rand) func() float64 {
		return func() float64 { return share * blockSD * r.NormFloat64() }
	})
}

// regimes hold a level, up or down by so much, for fifteen visits.
func regimes(by float64) func(r *rand.Rand) func(int) []float64 {
	return shifted(func(r *rand.Rand) func() float64 {
		left, level := 1+r.IntN(15), by*sign(r)
		return func() float64 {
			if left--; left < 0 {
				left, level = 14, by*sign(r)
			}
			return level
		}
	})
}

var noises = []noise{
	{"independent blocks, normal", true, each(func(r *rand.Rand) float64 { return blockSD * r.NormFloat64() })},
	{"independent, heavy tails (Student's t, 2 degrees)", true,
		each(func(r *rand.Rand) float64 { return blockSD * r.NormFloat64() / math.Sqrt(r.ExpFloat64()) })},
	{"independent, skewed", true, each(func(r *rand.Rand) float64 {
		return blockSD * (math.Exp(
			0.8*r.NormFloat64()) - 1)
	})},
	{"a core of two speeds", true, each(func(r *rand.Rand) float64 {
		return 0.01*r.NormFloat64() + math.Ln2*float64(r.IntN(2)*(1-2*r.IntN(2)))
	})},
	{"a block keeps 0.3 of the one before it in its visit", true, chained(0.3, false)},
	{"a block keeps 0.6 of the one before it in its visit", true, chained(0.6, false)},
	{"a block keeps 0.9 of the one before it in its visit", true, chained(0.9, false)},
	{"visits differ by 0.36 of the blocks' deviation", true, between(0.36)},
	{"visits differ by 0.6 of it", true, between(0.6)},
	{"visits differ by as much as blocks", true, between(betweenMax)},
	{"a block keeps 0.3 of the one before it, through all visits", false, chained(0.3, true)},
	{"a block keeps 0.6 of the one before it, through all visits", false, chained(0.6, true)},
	{"a block keeps 0.9 of the one before it, through all visits", false, chained(0.9, true)},
	{"a level 1 % up or down for 15 visits", false, regimes(0.01)},
	{"a level 3 % up or down for 15 visits", false, regimes(0.03)},
	// To and fro once in 120 visits, from anywhere.
	{"a slow drift by 2 % to either side", false, shifted(func(r *rand.Rand) func() float64 {
		at := 2 * math.Pi * r.Float64()
		return func() float64 { at += 2 * math.Pi / 120; return 0.02 * math.Sin(at) }
	})},
	{"a neighbour on one condition, 4 % for 3 to 8 visits", false, shifted(func(r *rand.Rand) func() float64 {
		left, by := 0, 0.0
		return func() float64 {
			if left--; left < 0 {
				left, by = 0, 0
				if r.IntN(10) == 0 {
					left, by = 2+r.IntN(6), 0.04*sign(r)
				}
			}
			return by
		}
	})},
}

// campaign makes one campaign of visits of so many blocks. The truth is so far inside
// of the claim's only edge. It reports the verdict at the end, and which verdicts it
// had at any time.
func campaign(r *rand.Rand, n noise, each, visits int, off float64) (last Verdict, ever map[Verdict]bool) {
	next := n.begin(r)
	edges, edge := make([]votes, 1), band{1, math.Inf(1)}
	ever = map[Verdict]bool{}
	for range visits {
		for i, noise := range next(each) {
			v := math.Exp(off + noise)
			edge.count(edges, span{least: v, most: v, later: i > 0})
		}
		last = judge(edges, stats.Alpha)
		if ever[last] = true; off > 0 && last != Inconclusive {
			break
		}
	}
	return last, ever
}

// simulated gives a noise's row, from the first of its campaigns.
func simulated(n noise, campaigns int) SimulatedNoise {
	out := SimulatedNoise{Noise: n.name, Holds: n.holds}
	for _, blocks := range visitBlocks {
		seed := fnv.New64a()
		fmt.Fprint(seed, n.name, blocks)
		r := rand.New(rand.NewPCG(seed.Sum64(), 1))
		high, low, off3, open := 0, 0, 0, [2]int{}
		for range campaigns {
			// At its edge a claim is as close to true as to false: either verdict may be
			// called wrong, by an adversary who stops when it comes up.
			own := rand.New(rand.NewPCG(r.Uint64(), 2))
			_, ever := campaign(own, n, blocks, longest, 0)
			if ever[Reproduced] {
				high++
			}
			if ever[Refuted] {
				low++
			}
			for i, off := range offEdge {
				switch last, _ := campaign(own, n, blocks, openAfter, math.Log1p(off)); {
				case last == Inconclusive:
					open[i]++
				case last == Refuted && i == 0:
					off3++
				}
			}
		}
		share := func(k int) float64 { return math.Round(1e4*float64(k)/float64(campaigns)) / 1e4 }
		out.Wrong = append(out.Wrong, share(max(high, low)))
		out.Wrong3 = append(out.Wrong3, share(off3))
		out.Open3, out.Open5 = append(out.Open3, share(open[0])), append(out.Open5, share(open[1]))
	}
	return out
}

// The error that the method page states: for every dependence inside a visit, and
// for visits that differ by as much as blocks, at most one campaign in twenty has a
// wrong verdict, whenever it is stopped, even by an adversary who knows which verdict
// is wrong. A few of the campaigns are made again, to see that the file is theirs.
func TestSimulation(t *testing.T) {
	if *simulate {
		s := Simulation{Campaigns: campaigns, Visits: longest, OpenVisits: openAfter, BlockSD: blockSD, Blocks: visitBlocks,
			Off: offEdge[:]}
		for _, n := range noises {
			s.Rows = append(s.Rows, simulated(n, campaigns))
			t.Logf("%+v", s.Rows[len(s.Rows)-1])
		}
		s.Control = controls(noises[0], 1, 8*campaigns) // rarer than the others, so more of them
		data, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("simulation.json", append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	s := Simulated()
	if len(s.Rows) != len(noises) || s.Control > ControlAlpha || s.Campaigns != campaigns || s.Visits != longest ||
		s.OpenVisits != openAfter {
		t.Fatalf("%d rows of %d campaigns, a control that differs in %v", len(s.Rows), s.Campaigns, s.Control)
	}
	for i, n := range noises {
		row := s.Rows[i]
		if row.Noise != n.name || row.Holds != n.holds || n.holds && slices.Max(row.Wrong) > stats.Alpha {
			t.Errorf("%+v", row)
		}
		again := simulated(n, fewer)
		for k, file := range [][]float64{row.Wrong, row.Wrong3, row.Open3, row.Open5} {
			for at, got := range [][]float64{again.Wrong, again.Wrong3, again.Open3, again.Open5}[k] {
				if room := 4*math.Sqrt(file[at]*(1-file[at])/fewer) + 0.02; math.Abs(got-file[at]) > room {
					t.Errorf("%s, visits of %d: %v of %d campaigns, the file says %v", n.name, visitBlocks[at], got, fewer, file[at])
				}
			}
		}
	}
}

// controls is the share of records whose control differs at any time, with two
// metrics of the same noise.
func controls(n noise, seed uint64, records int) float64 {
	r := rand.New(rand.NewPCG(3, seed))
	differs := 0
	for range records {
		next := [2]func(int) []float64{n.begin(r), n.begin(r)}
		metrics := [2][]votes{make([]votes, 2), make([]votes, 2)}
		once := false
		for range longest {
			for i, edges := range metrics {
				for b, noise := range next[i](3) {
					v := math.Exp(noise)
					band{1, 1}.count(edges, span{least: v, most: v, later: b > 0})
				}
				once = once || differsBy(edges[0], 2) || differsBy(edges[1], 2)
			}
		}
		if once {
			differs++
		}
	}
	return float64(differs) / float64(records)
}

// Whoever ends each visit while it is ahead gains nothing by it.
func TestEndingVisitsAtWillGainsNothing(t *testing.T) {
	const campaigns = 300
	for _, n := range []noise{noises[0], noises[9]} {
		r, wrong := rand.New(rand.NewPCG(4, 4)), 0
		for range campaigns {
			next, edges, once := n.begin(r), make([]votes, 1), false
			for range 60 {
				ahead := 0
				for b, noise := range next(6) {
					if v := math.Exp(noise); b == 0 || ahead <= 0 {
						band{1, math.Inf(1)}.count(edges, span{least: v, most: v, later: b > 0})
						ahead += 1 - 2*int(math.Round(max(0, min(1, 1e9*(1-v)))))
					}
				}
				once = once || judge(edges, stats.Alpha) == Reproduced
			}
			if once {
				wrong++
			}
		}
		if share := float64(wrong) / campaigns; share > stats.Alpha {
			t.Errorf("%s: wrong in %v", n.name, share)
		}
	}
}

// Campaigns and runs decide alike: the same ratios in results files, pooled over runs
// of any length, get the same verdicts.
func TestCampaignsDecideAsRunsDo(t *testing.T) {
	x := sample.Design(t, "",
		`{ id = "c", text = "t", why = "Made up.", metric = "server_cpu_per_request_s", over = "workers", kind = "ratio", at_least = 1.1 }`)
	seen := map[Verdict]int{}
	for round := range 90 {
		r := rand.New(rand.NewPCG(uint64(round), 1))
		next := noises[round%len(noises)].begin(r)
		edges, visit := make([]votes, 1), 0
		var runs []Run
		for at := range 3 {
			blocks := 1 + r.IntN(3)
			var drawn []float64
			for range 1 + r.IntN(6) {
				for b, noise := range next(blocks) {
					v := 1.1 * math.Exp([]float64{0, 0.05, -0.05}[round%3]+noise)
					drawn = append(drawn, v)
					band{1.1, math.Inf(1)}.count(edges, span{least: v, most: v, later: b > 0})
				}
				visit++
			}
			f := sample.Run(x, len(drawn), func(ls setting.Levels, b int) sample.Figures {
				v := sample.Base(b)
				if workers, _ := ls[setting.Workers].Int(); workers == 2 {
					v *= drawn[b-1]
				}
				return sample.Figures{sample.Cost: v}
			})
			f.Run = fmt.Sprintf("run-%d", at)
			runs = append(runs, Run{sample.Day(stay(f, blocks), at), x})
		}
		got := Decide(x, sample.Machine, runs).Claims[0]
		if want := judge(edges, stats.Level(1, 1)); got.Verdict != want || got.Visits != visit {
			t.Errorf("round %d: %s of %d visits (%s), want %s of %d", round, got.Verdict, got.Visits, got.Reason, want, visit)
		}
		seen[got.Verdict]++
	}
	for _, v := range []Verdict{Reproduced, Refuted, Inconclusive} {
		if seen[v] < 5 {
			t.Errorf("only %d were %s: the rounds show too little", seen[v], v)
		}
	}
}

// What the rule can still see: two percent, where blocks differ by one percent,
// within twelve visits.
func TestTwoPercentAreSeenInTwelveVisits(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	seen := 0
	for range 500 {
		edges := make([]votes, 1)
		for range 12 {
			v := 1.02 * math.Exp(0.01*r.NormFloat64())
			band{1, math.Inf(1)}.count(edges, span{least: v, most: v})
		}
		if judge(edges, stats.Level(1, 1)) == Reproduced {
			seen++
		}
	}
	if share := float64(seen) / 500; share < 0.9 {
		t.Errorf("seen in %.3f of runs", share)
	}
}

var visitBlocks = []int{1, 3, 6}

// offEdge is how far the claims of which the open ones are counted lie inside.
var offEdge = [2]float64{0.03, 0.05}
