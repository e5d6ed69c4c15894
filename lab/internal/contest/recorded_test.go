package contest

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A recordedBlock has, of each condition, the CPU time and the requests of its slots, and the logarithm of
// their ratio over the condition's whole run.
type recordedBlock struct {
	cpu   [][]float64
	asked [][]int64
	usual []float64
}

// recordedRuns are the blocks of runs of the journal in which three servers or more took turns on
// one core in slots of 50 ms, by run.
func recordedRuns(tb testing.TB, pattern string) (runs [][]recordedBlock) {
	tb.Helper()
	paths, _ := filepath.Glob(filepath.Join("..", "..", "..", "data", "results", pattern, "*.json"))
	for _, path := range paths {
		f, err := results.Read(path)
		if err != nil {
			tb.Fatal(err)
		}
		plan := f.Provenance.Block
		if plan == nil || plan.SlotS != 0.05 || plan.Rounds < 10 || f.Provenance.Blocks < 8 || f.Topology.Kind != "loopback" {
			continue
		}
		cpu, asked := map[string]float64{}, map[string]int64{}
		valid := map[int][]results.Trial{}
		for _, t := range f.Trials {
			if t.Valid && t.Slots != nil && len(t.Slots.Requests) == plan.Rounds {
				valid[t.Block] = append(valid[t.Block], t)
				for i := range plan.Rounds {
					cpu[t.Condition], asked[t.Condition] = cpu[t.Condition]+t.Slots.ServerCPUS[i], asked[t.Condition]+t.Slots.Requests[i]
				}
			}
		}
		var run []recordedBlock
		for n := 1; n <= f.Provenance.Blocks; n++ {
			if len(valid[n]) < len(f.Conditions) || len(f.Conditions) < 3 {
				continue
			}
			var b recordedBlock
			for _, t := range valid[n] {
				b.cpu, b.asked = append(b.cpu, t.Slots.ServerCPUS), append(b.asked, t.Slots.Requests)
				b.usual = append(b.usual, math.Log(cpu[t.Condition]/float64(asked[t.Condition])))
			}
			run = append(run, b)
		}
		if len(run) >= 8 {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		tb.Fatalf("no run of %s is there", pattern)
	}
	return runs
}

// drawn is a made-up block of three servers that do not differ but for a factor on the first: what befell
// three servers in so many slots of one block of a run, and of further blocks if it has too few.
func drawn(r *rand.Rand, run []recordedBlock, slots int, truth float64) (cost [3]float64) {
	which := r.Perm(len(run[0].cpu))[:3]
	var cpu, asked [3]float64
	usual := run[0].usual
	for left := slots; left > 0; {
		b := run[r.IntN(len(run))]
		n := len(b.cpu[0])
		take := min(left, n)
		from := r.IntN(n - take + 1)
		for k, c := range which {
			for i := from; i < from+take; i++ {
				cpu[k], asked[k] = cpu[k]+b.cpu[c][i], asked[k]+float64(b.asked[c][i])
			}
		}
		left -= take
	}
	for k, c := range which {
		cost[k] = cpu[k] / asked[k] / math.Exp(usual[c])
	}
	cost[0] *= truth
	return cost
}

// BenchmarkSecondsUntilTold prints how long a comparison takes until it says that a server costs more, from
// what befell servers in recorded blocks: with blocks of 7 slots of 50 ms by signs alone, as they
// were once, by sizes too, and with as many slots as it has for two budgets. That slots of 20 ms differ from their
// neighbours as slots of 50 ms do is assumed here: the journal has none. 400 blocks are 400 or more.
func BenchmarkSecondsUntilTold(b *testing.B) {
	const campaigns, longest, level = 60, 400, stats.Alpha
	runs := slices.Concat(recordedRuns(b, "aa-*"), recordedRuns(b, "12-write-buffer"), recordedRuns(b, "road-*"),
		recordedRuns(b, "peers-*"))
	for b.Loop() {
		for _, truth := range []float64{1, 1.01, 1.03, 1.1} {
			for _, c := range []struct {
				name    string
				slots   int
				seconds float64 // of a slot
				sizes   bool
			}{{"signs, 7 slots of 50 ms", 7, 0.05, false}, {"sizes, 7 slots of 50 ms", 7, 0.05, true},
				{"sizes, slots for 60 s", rounds(leastSlot, time.Minute, 2), leastSlot.Seconds(), true},
				{"sizes, slots for 5 min", rounds(leastSlot, 5*time.Minute, 2), leastSlot.Seconds(), true}} {
				r := rand.New(rand.NewPCG(8, 9))
				var told []int
				more, same := 0, 0
				for range campaigns {
					run := runs[r.IntN(len(runs))]
					var of compare.Ratios
					n := 1
					for ; n < longest; n++ {
						x := drawn(r, run, c.slots, truth)
						of.Least, of.Most = append(of.Least, x[0]/x[1]), append(of.Most, x[0]/x[1])
						of.AgainLeast, of.AgainMost = append(of.AgainLeast, x[0]/x[2]), append(of.AgainMost, x[0]/x[2])
						if n < compare.Fewest(level) {
							continue
						}
						ratio := compare.Over(of.Least, of.Most, level)
						if c.sizes {
							ratio = of.Interval(level)
						}
						verdict := ratio.Judge(0.03)
						if verdict == compare.Dearer || truth > 1 && ratio.Unequal && ratio.Low >= 1 {
							more++
							break
						} else if truth == 1 && verdict != compare.Undecided {
							same++
							break
						}
					}
					told = append(told, n)
				}
				slices.Sort(told)
				each := 0.65 + 3*float64(c.slots)*(c.seconds+0.002) // with the servers' start, warm-up and end
				b.Logf("%2.0f %% more, %s: said of %d of %d (%d the same), after %d blocks, %.0f s; nine of ten: %d, %.0f s",
					100*(truth-1), c.name, more, campaigns, same, told[campaigns/2], each*float64(told[campaigns/2]),
					told[campaigns*9/10], each*float64(told[campaigns*9/10]))
			}
		}
	}
}

// From recorded noise, which is skewed and has outliers, servers that do not differ are hardly ever told
// apart, however often one looks.
func TestRecordedNoiseTellsNobodyApart(t *testing.T) {
	const campaigns, longest, level = 120, 30, stats.Alpha
	runs := recordedRuns(t, "road-simple")
	r, wrong := rand.New(rand.NewPCG(10, 11)), 0
	for range campaigns {
		run := runs[r.IntN(len(runs))]
		var of compare.Ratios
		for n := 1; n <= longest; n++ {
			x := drawn(r, run, 7, 1)
			of.Least, of.Most = append(of.Least, x[0]/x[1]), append(of.Most, x[0]/x[1])
			of.AgainLeast, of.AgainMost = append(of.AgainLeast, x[0]/x[2]), append(of.AgainMost, x[0]/x[2])
			if ratio := of.Interval(level); n >= compare.Fewest(level) && ratio.Unequal {
				wrong++
				break
			}
		}
	}
	if wrong > campaigns/20 {
		t.Errorf("%d of %d", wrong, campaigns)
	}
}
