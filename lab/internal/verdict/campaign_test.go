package verdict

import (
	"encoding/json"
	"flag"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Whole campaigns on made-up machines measure a claim block by block, and stop at any
// time. The file simulation.json has the result, and the reference page prints it; `go
// test ./internal/verdict -run Simulation -simulate` computes it anew, in a few minutes.
var simulate = flag.Bool("simulate", false, "compute simulation.json anew")

const (
	blockSD   = 0.02 // of the logarithm of a block's ratio
	campaigns = 1000 // of a row of the file
	longest   = 100  // blocks of a campaign
	openAfter = 20   // blocks after which a claim off its edge is looked at
	fewer     = 60   // campaigns that every run of the tests makes again
)

// offEdge is how far the claims of which the open ones are counted lie inside.
var offEdge = [2]float64{0.03, 0.05}

// A noise gives the logarithm of the ratio of the next block over the true one, and whether a fault refuses the
// block. The median over all campaigns is 0, since a difference in every block would not be noise.
type noise struct {
	name  string
	holds bool // whether the bet allows it
	begin begin
}

// of is a noise whose blocks are drawn each by itself, of which none is refused.
func of(draw func(r *rand.Rand) float64) begin {
	return about(func(*rand.Rand) func() float64 { return func() float64 { return 0 } }, draw)
}

func normal(r *rand.Rand) float64 { return blockSD * r.NormFloat64() }
func sign(r *rand.Rand) float64   { return float64(1 - 2*r.IntN(2)) }

// A begin begins a noise.
type begin = func(*rand.Rand) func() (ratio float64, refused bool)

// about has blocks about a level that moves from block to block.
func about(level func(r *rand.Rand) func() float64, draw func(r *rand.Rand) float64) begin {
	return func(r *rand.Rand) func() (float64, bool) {
		next := level(r)
		return func() (float64, bool) { return next() + draw(r), false }
	}
}

// chained is a block that keeps so much of the one before it.
func chained(keeps float64) begin {
	return about(func(r *rand.Rand) func() float64 {
		at := r.NormFloat64()
		return func() float64 {
			at = keeps*at + math.Sqrt(1-keeps*keeps)*r.NormFloat64()
			return blockSD * at
		}
	}, func(*rand.Rand) float64 { return 0 })
}

// regimes hold a level, up or down by so much, for fifteen blocks.
func regimes(by float64) begin {
	return about(func(r *rand.Rand) func() float64 {
		left, level := 1+r.IntN(15), by*sign(r)
		return func() float64 {
			if left--; left < 0 {
				left, level = 14, by*sign(r)
			}
			return level
		}
	}, normal)
}

// refusing refuses a share of the blocks, of all or of those in which the one condition is ahead.
func refusing(share float64, ahead bool) begin {
	return func(r *rand.Rand) func() (float64, bool) {
		return func() (float64, bool) {
			v := normal(r)
			if ahead {
				return v, v < 0 && r.Float64() < 2*share
			}
			return v, r.Float64() < share
		}
	}
}

var noises = []noise{
	{"independent blocks, normal", true, of(normal)},
	{"independent, heavy tails (Student's t, 2 degrees)", true,
		of(func(r *rand.Rand) float64 { return normal(r) / math.Sqrt(r.ExpFloat64()) })},
	{"independent, skewed", true, of(func(r *rand.Rand) float64 { return blockSD * (math.Exp(0.8*r.NormFloat64()) - 1) })},
	{"a core of two speeds", true,
		of(func(r *rand.Rand) float64 { return normal(r)/2 + math.Ln2*float64(r.IntN(2)*(1-2*r.IntN(2))) })},
	{"visits differ by as much as blocks", true, of(func(r *rand.Rand) float64 { return normal(r) + normal(r) })},
	{"a tenth of the blocks refused at random", true, refusing(0.1, false)},
	{"a fifth of the blocks refused at random", true, refusing(0.2, false)},
	{"a block keeps 0.3 of the one before it", false, chained(0.3)},
	{"a block keeps 0.6 of the one before it", false, chained(0.6)},
	{"a block keeps 0.9 of the one before it", false, chained(0.9)},
	{"a level 1 % up or down for 15 visits", false, regimes(0.01)},
	{"a level 3 % up or down for 15 visits", false, regimes(0.03)},
	// To and fro once in 120 blocks, from anywhere.
	{"a slow drift by 2 % to either side", false, about(func(r *rand.Rand) func() float64 {
		at := 2 * math.Pi * r.Float64()
		return func() float64 { at += 2 * math.Pi / 120; return 0.02 * math.Sin(at) }
	}, normal)},
	{"bursts on one condition, 4 % for 3 to 8 visits", false, about(func(r *rand.Rand) func() float64 {
		left, by := 0, 0.0
		return func() float64 {
			if left--; left < 0 {
				if left, by = 0, 0; r.IntN(10) == 0 {
					left, by = 2+r.IntN(6), 0.04*sign(r)
				}
			}
			return by
		}
	}, normal)},
	{"a disturbance that follows one condition, 2 % in half of the blocks", false,
		about(func(r *rand.Rand) func() float64 {
			side := sign(r)
			return func() float64 { return 0.02 * side * float64(r.IntN(2)) }
		}, normal)},
	{"a twentieth refused, only where one condition is ahead", false, refusing(0.05, true)},
	{"a tenth refused, only where one condition is ahead", false, refusing(0.1, true)},
	{"a fifth refused, only where one condition is ahead", false, refusing(0.2, true)},
}

// draw adds what a block gives.
func (m *comparison) draw(v float64) { m.all = append(m.all, results.Reading{Low: v, High: v}) }

// campaign makes one campaign of so many blocks, by the rule that decides one comparison of the only
// claim of a first design. The truth is so far inside of the claim's only edge. It reports the verdict at the end, and
// which it had at any time.
func campaign(r *rand.Rand, n noise, blocks int, off float64) (last Verdict, ever map[Verdict]bool) {
	next, lost := n.begin(r), 0
	m := &comparison{band: band{1, math.Inf(1)}}
	ever = map[Verdict]bool{}
	for block := range blocks {
		v, refused := next()
		if v = math.Exp(off + v); refused {
			lost++
		} else {
			m.draw(v)
		}
		m.settle(stats.Level(1, 1))
		if last = m.verdict; float64(lost) > MostLost*float64(block+1) {
			last = Open
		}
		if ever[last] = true; off > 0 && last != Open {
			break
		}
	}
	return last, ever
}

// A row has shares of a noise's campaigns: with a wrong verdict at any time, exactly at the edge and 3 % off, and open
// in the end, 3 % and 5 % off.
type row [4]float64

func simulated(n noise, campaigns int) (out row) {
	seed := fnv.New64a()
	seed.Write([]byte(n.name))
	r := rand.New(rand.NewPCG(seed.Sum64(), 1))
	high, low := 0.0, 0.0
	each := 1 / float64(campaigns)
	for range campaigns {
		// At its edge a claim is as close to true as to false: either verdict may be
		// called wrong, by an adversary who stops when it comes up.
		own := rand.New(rand.NewPCG(r.Uint64(), 2))
		_, ever := campaign(own, n, longest, 0)
		if ever[Confirmed] {
			high += each
		}
		if ever[Refuted] {
			low += each
		}
		for i, off := range offEdge {
			switch last, _ := campaign(own, n, openAfter, math.Log1p(off)); {
			case last == Open:
				out[2+i] += each
			case last == Refuted && i == 0:
				out[1] += each
			}
		}
	}
	out[0] = max(high, low)
	return out
}

// A file is simulation.json: what pages print of the rows, and the rows.
type file struct {
	Shown map[string]string `json:"shown"`
	Heads []string          `json:"heads"`
	Rows  []shownRow        `json:"rows"`
}

type shownRow struct {
	Noise string   `json:"noise"`
	Cells []string `json:"cells"`
	Of    row      `json:"of"`
}

func percent(share float64) string { return words.Grouped(100*share, -1) }

// The error that the method page states: as long as each block differs anew, at most one campaign in twenty has a wrong
// verdict. That holds whatever share of the blocks is refused blindly, and whenever an adversary stops who knows which
// verdict is wrong. A few of the campaigns are made again, to see that the file is theirs.
func TestSimulation(t *testing.T) {
	var f file
	if *simulate {
		worst, worst3 := 0.0, 0.0
		for _, n := range noises {
			of := simulated(n, campaigns)
			for i := range of {
				of[i] = math.Round(1e4*of[i]) / 1e4
			}
			t.Log(n.name, of)
			f.Rows = append(f.Rows, shownRow{n.name, strict.Map(of[:], percent), of})
			if worst3 = max(worst3, of[1]); n.holds {
				worst = max(worst, of[0])
			}
		}
		near, far := words.Percent(offEdge[0]), words.Percent(offEdge[1])
		f.Heads = []string{"Noise", "wrong at the edge", "wrong " + near + " off it", "open " + near + " off it",
			"open " + far + " off it"}
		f.Shown = map[string]string{"campaigns": words.Thousands(campaigns), "visits": words.Thousands(longest),
			"open_visits": words.Thousands(openAfter), "block_sd": words.Percent(blockSD), "off": near, "off_far": far,
			"worst_wrong": percent(worst) + "\u00a0%", "worst_wrong_3": percent(worst3) + "\u00a0%"}
		data, err := json.MarshalIndent(f, "", " ")
		if err == nil {
			err = os.WriteFile("simulation.json", append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := json.Unmarshal(Simulation, &f); err != nil || len(f.Rows) != len(noises) {
		t.Fatalf("%v: %d rows", err, len(f.Rows))
	}
	for i, n := range noises {
		of, again := f.Rows[i].Of, simulated(n, fewer)
		if f.Rows[i].Noise != n.name || n.holds && of[0] > stats.Alpha {
			t.Errorf("%s: %+v", n.name, f.Rows[i])
		}
		for k, share := range of {
			if room := 4*math.Sqrt(share*(1-share)/fewer) + 0.02; math.Abs(again[k]-share) > room {
				t.Errorf("%s: %v of %d campaigns, the file says %v", n.name, again, fewer, of)
			}
		}
	}
}

// A control of two metrics differs by chance in no more records than ControlAlpha.
func TestAControlSeldomDiffersByChance(t *testing.T) {
	const records = 600
	r, differs := rand.New(rand.NewPCG(3, 1)), 0
	for range records {
		metrics, once := [2]*comparison{{band: band{1, 1}}, {band: band{1, 1}}}, false
		for range longest {
			for _, m := range metrics {
				m.draw(math.Exp(normal(r)))
				m.settle(ControlAlpha / 2)
				once = once || m.verdict == Refuted
			}
		}
		if once {
			differs++
		}
	}
	if share := float64(differs) / records; share > 2*ControlAlpha {
		t.Errorf("%v of records", share)
	}
}

// Campaigns and runs decide alike: the same ratios in results files, pooled over runs
// of any length, get the same verdicts.
func TestCampaignsDecideAsRunsDo(t *testing.T) {
	x := designed(t, "", atLeast)
	seen := map[Verdict]int{}
	for round := range 90 {
		r := rand.New(rand.NewPCG(uint64(round), 1))
		next := noises[round%len(noises)].begin(r)
		m := &comparison{band: band{1.5, math.Inf(1)}}
		var runs []Run
		for at := range 3 {
			var drawn []float64
			for range 1 + r.IntN(8) {
				noise, _ := next()
				v := 1.5 * math.Exp([]float64{0, 0.05, -0.05}[round%3]+noise)
				drawn = append(drawn, v)
				m.draw(v)
			}
			f := madeUp(x, len(drawn), func(ls setting.Levels, b int) values {
				n, _ := ls[setting.Workers].Int()
				return values{rps: math.Pow(drawn[b-1], float64(n-1))}
			})
			runs = append(runs, Run{onDay(f, at), x})
		}
		m.settle(stats.Level(1, 1))
		got := claimsOf(x, runs...)[0]
		if got.Verdict != m.verdict || got.Blocks != len(m.all) {
			t.Errorf("round %d: %+v, want %s of %d", round, got, m.verdict, len(m.all))
		}
		seen[got.Verdict]++
	}
	if slices.Min([]int{seen[Confirmed], seen[Refuted], seen[Open]}) < 5 {
		t.Errorf("%v: the rounds show too little", seen)
	}
}
