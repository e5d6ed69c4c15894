package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// By hand, for the single claim of a question's first design: one comparison has an interval
// from an e-value of 80 on each side. Eight of eight blocks (132.9) reach it, and seven
// (69.5) do not. With two comparisons it takes 160, which nine of nine reach.
func TestTheIntervalAgainstTheBand(t *testing.T) {
	for _, c := range []struct {
		name, claim string
		ratios      []float64 // by block
		want        Verdict
		// The first effect: the median, and the interval.
		ratio, low, high float64
		says             string
	}{
		{"flat", isFlat, []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.00, 1}, Confirmed, 1, 0.98, 1.03,
			"throughput with 2 workers over that with 1: 1.000 (0.980 to 1.030); 8 of 8 blocks lie between 0.9091 and 1.1"},
		{"flat, of seven, which have no interval yet", isFlat, []float64{1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.005},
			Open, 1.005, 0, 0, "1.005 (blocks from 0.980 to 1.030); 7 of 7 blocks lie between 0.9091 and 1.1; 8 are " +
				"the least that decide; about 1 more block would decide it"},
		{"flat, refuted above", isFlat, []float64{1.22, 1.21, 1.24, 1.23, 1.26, 1.25, 1.24, 1.24}, Refuted, 1.24,
			1.21, 1.26, "1.240 (1.210 to 1.260); 0 of 8 blocks lie between 0.9091 and 1.1, and 8 do not"},
		{"flat, refuted below", isFlat, []float64{0.55, 0.54, 0.53, 0.52, 0.51, 0.50, 0.54, 0.53}, Refuted, 0.53,
			0.50, 0.55, ""},
		{"flat, crossing the upper margin", isFlat, []float64{1.05, 1.06, 1.07, 1.08, 1.09, 1.09, 1.20, 1.08}, Open,
			1.08, 1.05, 1.20, "7 of 8 blocks lie between 0.9091 and 1.1, and 1 does not; about "},
		{"flat, crossing the lower margin", isFlat, []float64{0.80, 0.95, 0.96, 0.97, 0.98, 0.99, 0.99, 0.97}, Open,
			0.97, 0.80, 0.99, ""},
		{"flat, at its very margins", with(isFlat, "0.1", "0.25"),
			[]float64{0.8, 0.8, 0.8, 1, 1.25, 1.25, 1.25, 1}, Confirmed, 1, 0.8, 1.25, ""},
		{"thirteen blocks bear one that is off on each side", isFlat,
			[]float64{1.02, 0.2, 0.96, 0.97, 5, 0.98, 0.99, 1.00, 1.01, 1, 1, 1, 1}, Confirmed, 1, 0.96, 1.02, "11 of 13"},
		{"at least", atLeast, []float64{1.5, 1.6, 1.7, 1.8, 1.9, 2, 2, 1.8}, Confirmed, 1.8, 1.5, 2,
			"1.80 (1.50 to 2.00); 8 of 8 blocks lie at 1.5 or above"},
		{"at least, refuted", atLeast, []float64{1, 1.1, 1.2, 1.3, 1.4, 1.45, 1.49, 1.3}, Refuted, 1.3, 1, 1.49,
			"0 of 8 blocks lie at 1.5 or above, and 8 do not"},
		{"at least, open", atLeast, []float64{1.4, 1.6, 1.7, 1.8, 1.9, 2, 2, 1.8}, Open, 1.8, 1.4, 2, ""},
		{"at most", atMost, []float64{0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.5, 0.4}, Confirmed, 0.4, 0.1, 0.5,
			"8 of 8 blocks lie at 0.5 or below"},
		{"at most, refuted", atMost, []float64{0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 0.9}, Refuted, 0.9, 0.6, 1.2, ""},
		{"within two bars", with(atMost, "at_most", "at_least = 0.3, at_most"), times(8, 0.4),
			Confirmed, 0.4, 0.4, 0.4, "lie between 0.3 and 0.5"},
		// With two levels the single step is also the whole: as a step it may fall by
		// the margin, but as the whole it may not fall at all.
		{"rises", rises, []float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.5, 1.3, 1.3}, Confirmed, 1.3, 1, 1.5,
			"all 2 comparisons hold"},
		{"rises, a little lower all through", rises, []float64{0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.99, 0.98, 0.98},
			Refuted, 0.98, 0.95, 0.99, "0 of 9 blocks lie at 1 or above, and 9 do not"},
		{"rises, by nothing seen", rises, []float64{0.98, 0.99, 1, 1.01, 1.02, 1.03, 1, 1, 1}, Open, 1, 0.98,
			1.03, "7 of 9 blocks lie at 1 or above, and 2 do not"},
	} {
		x := designed(t, "", c.claim)
		got := one(x, ratios(x, c.ratios...))
		expect(t, c.name, got, c.want, c.says)
		e := got.Effects[0]
		if e.Ratio != c.ratio || e.Low != c.low || e.High != c.high || e.Pairs != len(c.ratios) || e.Metric != rps {
			t.Errorf("%s: effect %+v, want %v, %v to %v over %d pairs", c.name, e, c.ratio, c.low, c.high, len(c.ratios))
		}
		if e.A.Key() != "workers=2" || e.B.Key() != "workers=1" || e.At != nil {
			t.Errorf("%s: %v over %v at %v", c.name, e.A, e.B, e.At)
		}
		if got.Needed > 0 && got.Verdict != Open || got.Blocks != len(c.ratios) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// A verdict is what the interval beside it says, whatever the noise and however many comparisons.
func TestAVerdictNeverContradictsItsInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	var claims []string
	for i, c := range []string{isFlat, atLeast, atMost, rises} {
		claims = append(claims, rename(c, fmt.Sprintf("c-%d", i)))
	}
	x := designed(t, `{ name = "workers", levels = [1, 2, 4] }`, claims...)
	seen := map[Verdict]int{}
	for range 200 {
		gain, spread := 0.3+2*r.Float64(), 0.3*r.Float64()
		f := madeUp(x, 6+r.IntN(20), func(ls setting.Levels, b int) values {
			n, _ := ls[setting.Workers].Int()
			return values{rps: speed(b) * math.Pow(gain, float64(n-1)) * math.Exp(spread*r.NormFloat64())}
		})
		for _, c := range claimsOf(x, Run{f, x}) {
			seen[c.Verdict]++
			in, out := 0, 0
			for _, e := range c.Effects {
				above := e.BandLow == 0 || e.Low >= e.BandLow
				if e.High > 0 && above && (e.BandHigh == 0 || e.High <= e.BandHigh) {
					in++
				}
				if e.High > 0 && (e.High < e.BandLow || e.BandHigh > 0 && e.Low > e.BandHigh) {
					out++
				}
			}
			if (c.Verdict == Refuted) != (out > 0) || (c.Verdict == Confirmed) != (in == len(c.Effects)) {
				t.Errorf("%s with %d of %d intervals inside and %d outside: %+v", c.Verdict, in, len(c.Effects), out, c.Effects)
			}
		}
	}
	for _, v := range []Verdict{Confirmed, Refuted, Open} {
		if seen[v] < 20 {
			t.Errorf("only %d were %s; the rounds show too little", seen[v], v)
		}
	}
}

func TestEveryComparisonHasToAgree(t *testing.T) {
	three := `{ name = "workers", levels = [1, 2, 4] }`
	for _, c := range []struct {
		name, claim string
		by          [3]float64
		want        Verdict
		effects     int
		says        string
	}{
		{"flat: each pair of three levels", isFlat, [3]float64{1, 1.04, 1.08}, Confirmed, 3, "all 3 comparisons hold"},
		// Each step is within the margin; the ends are not.
		{"flat: the ends drift apart", isFlat, [3]float64{1, 1.08, 1.17}, Refuted, 3, "throughput with 4 workers"},
		{"flat: the middle is apart", isFlat, [3]float64{1, 1.5, 1.02}, Refuted, 3,
			"throughput with 2 workers over that with 1: 1.50 (1.50 to 1.50); 0 of 12 blocks lie between 0.9091 and 1.1"},
		{"flat: of two that are named", with(isFlat, "margin", "levels = [4, 1], margin"),
			[3]float64{1, 1.5, 1.02}, Confirmed, 1, "throughput with 1 workers over that with 4"},
		{"rises at each step", rises, [3]float64{1, 1.5, 3}, Confirmed, 3, "all 3 comparisons hold"},
		{"rises, with a step down within the margin", rises, [3]float64{1, 0.95, 3}, Confirmed, 3, "all 3"},
		{"rises, but for one step", rises, [3]float64{1, 0.8, 3}, Refuted, 3, "throughput with 2 workers over "},
		{"rises, in another order", with(rises, "margin", "levels = [2, 1, 4], margin"),
			[3]float64{1, 0.8, 3}, Confirmed, 3, "all 3"},
		{"falls in the end", rises, [3]float64{1, 3, 2}, Refuted, 3, "throughput with 4 workers over that with 2"},
		// A ratio compares the last level with the first; levels between are ignored.
		{"ratio of the ends only", atLeast, [3]float64{1, 0.1, 2}, Confirmed, 1, "with 4 workers over that with 1"},
		{"ratio of two that are named", with(atLeast, "at_least", "levels = [2, 1], at_least"),
			[3]float64{1, 0.1, 2}, Confirmed, 1, "throughput with 1 workers over that with 2: 10.0"},
	} {
		x := designed(t, three, c.claim)
		got := one(x, madeUp(x, 12, func(ls setting.Levels, b int) values {
			n, _ := ls[setting.Workers].Int()
			return values{rps: speed(b) * c.by[n/2]}
		}))
		if expect(t, c.name, got, c.want, c.says); len(got.Effects) != c.effects {
			t.Errorf("%s: %d effects, want %d", c.name, len(got.Effects), c.effects)
		}
	}
}

// It compares levels at equal levels of the other factors. A claim that is kept to some levels
// looks at those only.
func TestLevelsAreComparedWithinEachLevelOfTheOtherFactors(t *testing.T) {
	const at = `margin = 0.1, at = { pipelining = %d }`
	two := `{ name = "workers", levels = [1, 2] }, { name = "pipelining", levels = [1, 10] }`
	for _, c := range []struct {
		claim   string
		gain    float64 // of the second worker, at the depth of 10
		want    Verdict
		effects int
	}{
		{isFlat, 1, Confirmed, 2},
		{isFlat, 2, Refuted, 2},
		{with(isFlat, "margin = 0.1", fmt.Sprintf(at, 1)), 2, Confirmed, 1},
		{with(isFlat, "margin = 0.1", fmt.Sprintf(at, 10)), 2, Refuted, 1},
	} {
		x := designed(t, two, c.claim)
		got := one(x, madeUp(x, 10, func(ls setting.Levels, b int) values {
			v := speed(b)
			if ls[setting.Pipelining] == setting.Int(10) {
				v *= 8 // the other factor's own effect must not matter
				if ls[setting.Workers] == setting.Int(2) {
					v *= c.gain
				}
			}
			return values{rps: v}
		}))
		if expect(t, c.claim, got, c.want, ""); len(got.Effects) != c.effects {
			t.Errorf("%d effects, want %d", len(got.Effects), c.effects)
		}
	}
}

// A block with a refused or missing trial enters no bet, and the reason counts it.
func TestRefusedBlocksEnterNoBet(t *testing.T) {
	x := designed(t, "", isFlat, rename(wireWall, "wall"))
	r := ratios(x, times(20, 1)...)
	for i := range r.Trials {
		bounded(&r.Trials[i], gate.BoundWire)
		if b := r.Trials[i].Block; b > 18 && i%2 == 0 {
			spoil(&r.Trials[i])
		}
	}
	for _, c := range claimsOf(x, Run{r, x}) {
		expect(t, c.ID, c, Confirmed, "in 2 of 20 blocks a fault refused a trial (errors 2)")
		if c.Blocks != 20 || c.Refused != 2 || c.For != 18 || c.Against != 0 {
			t.Errorf("%s: %+v", c.ID, c)
		}
	}
	expect(t, "words", one(x, r), Confirmed, "18 of 18 blocks that counted lie between 0.9091 and 1.1; in 2 of 20 blocks")
	// Another refused block is one too many, since the rest may be a selection.
	spoil(&r.Trials[0])
	says := "too many blocks have no vote: in 3 of 20 blocks a fault refused a trial (errors 3)"
	expect(t, "three of sixteen", one(x, r), Open, says)
	r.Trials = slices.DeleteFunc(r.Trials, func(t results.Trial) bool { return !t.Valid }) // missing rather than refused
	expect(t, "missing", one(x, r), Open, "in 3 of 20 blocks a fault refused a trial; ")
	// A condition that is lost is never hidden by the others.
	const levels = `{ name = "workers", levels = [1, 2, 4] }`
	three := designed(t, levels, isFlat)
	r = madeUp(three, 12, func(setting.Levels, int) values { return values{rps: 1} })
	for i := range r.Trials {
		if r.Trials[i].Condition == "c3" {
			spoil(&r.Trials[i])
		}
	}
	expect(t, "two of three levels", one(three, r), Open, "in 12 of 12 blocks a fault refused a trial (errors 12)")
	// It does not matter to a claim of the other two.
	y := designed(t, levels, with(isFlat, "margin", "levels = [1, 2], margin"))
	expect(t, "a claim of two", one(y, r), Confirmed, "12 of 12 blocks lie")
}

// A fault that is not blind refuses the blocks in which one condition is ahead. The others show more than the truth,
// and nothing in them tells. But the reason names what was refused, and too many of them decide nothing.
func TestAFaultThatTakesSidesIsSaid(t *testing.T) {
	for _, c := range []struct {
		ahead   int // blocks in which the one condition is ahead, beside nine in which it is not
		refuses bool
		want    Verdict
		says    string
	}{
		{1, false, Open, "9 of 10 blocks lie at 0.5 or below, and 1 does not"},
		{1, true, Confirmed, "9 of 9 blocks that counted lie at 0.5 or below; in 1 of 10 blocks a fault refused a trial"},
		{2, true, Open, "too many blocks have no vote: in 2 of 11 blocks a fault refused a trial (errors 4)"},
	} {
		x := designed(t, "", atMost)
		r := ratios(x, append(times(9, 0.49), times(c.ahead, 0.51)...)...)
		for i := range r.Trials {
			if c.refuses && r.Trials[i].Block > 9 {
				spoil(&r.Trials[i])
			}
		}
		expect(t, fmt.Sprintf("%+v", c), one(x, r), c.want, c.says)
	}
}

// Figures that are a client's say nothing where the client was the bottleneck, or may have been, or shared the server's
// cores. A server's CPU per request is its own all the same.
func TestAClientsFiguresNeedRoomAtTheClient(t *testing.T) {
	full := func(t *results.Trial) { bounded(t, gate.BoundClientCPU) }
	unseen := func(t *results.Trial) { delete(t.Metrics, "client_cores_busy") }
	for _, c := range []struct {
		name   string
		blocks int // of sixteen, of which one trial is so
		change func(*results.Trial)
		want   Verdict
		says   string
	}{
		{"full in two", 2, full, Confirmed, "in 2 of 20 blocks the client's CPU was the bottleneck, so the figures measure"},
		{"full in six", 6, full, Open, "too many blocks have no vote: in 6 of 20 blocks the client's CPU was the bottleneck"},
		{"not recorded in two", 2, unseen, Confirmed, "in 2 of 20 blocks the client's CPU was not recorded: it may"},
		{"not recorded in all", 20, unseen, Open, "in 20 of 20 blocks the client's CPU was not recorded"},
		// An unknown bottleneck is no reason to leave a block out.
		{"nothing full", 20, func(t *results.Trial) { t.Metrics["server_cores_busy"] = 0.5 }, Confirmed, "20 of 20"},
	} {
		x := designed(t, "", isFlat, rename(flatCost, "cost"))
		r := ratios(x, times(20, 1)...)
		for i := range c.blocks {
			c.change(&r.Trials[2*i])
		}
		got := claimsOf(x, Run{r, x})
		expect(t, c.name, got[0], c.want, c.says)
		expect(t, c.name+", cost", got[1], Confirmed, "20 of 20 blocks lie")
		if got[0].Refused != 0 {
			t.Errorf("%s: %+v", c.name, got[0])
		}
	}
	for name, set := range map[string]func(*results.Provenance){
		"not pinned":      func(p *results.Provenance) { p.ServerCPUs, p.ClientCPUs = "", "" },
		"on one core":     func(p *results.Provenance) { p.ServerCPUs, p.ClientCPUs = "0", "0" },
		"with one shared": func(p *results.Provenance) { p.ServerCPUs, p.ClientCPUs = "0-2", "2-3" },
	} {
		x := designed(t, "", isFlat, rename(flatCost, "cost"))
		r := ratios(x, times(12, 1)...)
		set(r.Provenance)
		got := claimsOf(x, Run{r, x})
		expect(t, name, got[0], NotApplicable, "in 12 of 12 blocks server and client shared cores")
		expect(t, name+", cost", got[1], Confirmed, "")
	}
	// A flat claim about the client needs room at the server.
	x := designed(t, "", with(isFlat, "margin", `about = "client", margin`))
	r := ratios(x, times(12, 1)...)
	expect(t, "about the client", one(x, r), Open, "in 12 of 12 blocks the server's CPU was the bottleneck")
}

// A figure that is zero or missing leaves a block without a vote.
func TestAFigureWithoutARatioSaysNothing(t *testing.T) {
	x := designed(t, "", isFlat)
	r := ratios(x, times(20, 1)...)
	r.Trials[4].Metrics[rps] = 0
	delete(r.Trials[7].Metrics, rps)
	expect(t, "two", one(x, r), Confirmed, "; in 1 of 20 blocks a figure that the claim rests on was not recorded; "+
		"in 1 of 20 blocks a figure is zero, so there is no ratio")
	for i := range r.Trials {
		delete(r.Trials[i].Metrics, rps)
	}
	expect(t, "none", one(x, r), NotApplicable, "in 20 of 20 blocks a figure that the claim rests on was not recorded")
}

// latency runs a flat or ratio claim about the median latency, by a generator that cuts to whole milliseconds or not.
func TestAVerdictHoldsForAllThatAFigureMayStandFor(t *testing.T) {
	const cannon, fortio = 0.001, 0 // the steps in which they record
	const p50 = "latency_p50_s"
	flat := with(isFlat, rps, p50)
	longer := with(with(atLeast, rps, p50), "1.5", "8")
	shorter := with(atMost, rps, p50)
	for _, c := range []struct {
		name, claim    string
		step, at1, at2 float64 // a figure of 0: below a millisecond
		want           Verdict
		says           string
	}{
		// 2.05 and 2.9 ms are both cut to 2.
		{"flat by whole milliseconds", flat, cannon, 0.002, 0.002, Open,
			"0.67 to 1.50, as far as coarse figures tell (0.67 to 1.50); 0 of 10 blocks lie between 0.9091 and 1.1"},
		{"flat by microseconds", flat, fortio, 0.002, 0.002, Confirmed, ""},
		{"flat by whole milliseconds, where they are many", flat, cannon, 0.1, 0.1, Confirmed, ""},
		{"not flat, whatever was cut off", flat, cannon, 0.002, 0.009, Refuted, ""},
		{"nine times, or six", longer, cannon, 0.002, 0.018, Open, "6.0 to 9.5"},
		{"nine times, nearly exactly", longer, fortio, 0.002, 0.018, Confirmed, ""},
		{"thirteen times at the least", longer, cannon, 0.002, 0.04, Confirmed, ""},
		// Figures below the clock's resolution are kept as ranges, not dropped.
		{"below the resolution, at least eight times", longer, cannon, 0, 0.009, Confirmed, ""},
		{"below the resolution, at least seven times", longer, cannon, 0, 0.007, Open, "7.0 or more"},
		{"below it at either level", flat, cannon, 0, 0, Open, ""},
		{"below it now, four before", shorter, cannon, 0.004, 0, Confirmed, ""},
		{"below it now, one before", shorter, cannon, 0.001, 0, Open, ""},
	} {
		x := designed(t, "", c.claim)
		r := madeUp(x, 10, func(setting.Levels, int) values { return values{rps: 1} })
		for i := range r.Trials {
			v := map[string]float64{"c1": c.at1, "c2": c.at2}[r.Trials[i].Condition]
			if r.Trials[i].Metrics[p50] = v; v == 0 {
				delete(r.Trials[i].Metrics, p50)
				r.Trials[i].Below = map[string]float64{p50: 0.001}
			}
			r.Trials[i].Resolution = map[string]float64{p50: c.step}
		}
		expect(t, c.name, one(x, r), c.want, c.says)
	}
}

func TestUnmetNeedsAreNotApplicable(t *testing.T) {
	for _, c := range []struct {
		name, needs string
		cores       int
		change      func(*results.File)
		want        Verdict
		says        string
	}{
		{"enough cores", "cores = 4", 4, func(*results.File) {}, Refuted, ""},
		{"too few cores", "cores = 4", 2, func(*results.File) {}, NotApplicable, "needs 4 cores; this machine has 2"},
		{"cores not known", "cores = 4", 0, func(*results.File) {}, NotApplicable, "needs 4 cores"},
		{"no line rate", "line_rate = true", 4, func(*results.File) {}, NotApplicable,
			"needs a wire of known line rate; this run went over loopback"},
		{"a line rate", "line_rate = true", 4, func(r *results.File) {
			r.Topology.LineRateBps = 1e9
			for i := range r.Trials {
				r.Trials[i].Metrics["line_rate_share"] = 0.5
			}
		}, Refuted, ""},
		{"so bounded but for one block", `bound = "wire"`, 4, func(r *results.File) {
			for i := range r.Trials[2:] {
				bounded(&r.Trials[i+2], gate.BoundWire)
			}
		}, Refuted, "in 1 of 12 blocks the bottleneck was not seen to be the one that the claim needs"},
		{"bounded by the client", `bound = "wire"`, 4, func(r *results.File) {
			for i := range r.Trials {
				bounded(&r.Trials[i], gate.BoundClientCPU)
			}
		}, NotApplicable, "in 12 of 12 blocks the bottleneck was not seen"},
		{"a server that the client may have kept waiting", `bound = "server-cpu"`, 4, func(r *results.File) {
			for i := range r.Trials {
				delete(r.Trials[i].Metrics, "client_cores_busy")
			}
		}, NotApplicable, "in 12 of 12 blocks the bottleneck was not seen"},
		{"nothing to compare", "cores = 4", 4, func(r *results.File) { r.Conditions = r.Conditions[:1] }, NotApplicable,
			"the run lacks levels of workers"},
		{"no condition", "cores = 4", 4, func(r *results.File) { r.Conditions = nil }, NotApplicable, "has no condition"},
	} {
		x := designed(t, "", fmt.Sprintf(flatNeeds, c.needs))
		r, h := ratios(x, times(12, 2)...), *machine // which refutes the claim
		h.Cores = c.cores
		c.change(r)
		expect(t, c.name, Decide(x, &h, []Run{{r, x}}).Claims[0], c.want, c.says)
	}
}

// What others ran on the cores follows one condition, and could explain the ratio.
func TestWorkThatFollowsAConditionLeavesTheClaimOpen(t *testing.T) {
	for _, c := range []struct {
		ratio, more, idle float64
		want              Verdict
	}{{1.3, 0, 0, Confirmed}, {1.3, 0.2, 0, Open}, {3, 0.2, 0, Confirmed}, {1.3, 0, 0.2, Open}} {
		x := designed(t, "", with(atLeast, "1.5", "1.2"))
		r := ratios(x, times(20, c.ratio)...)
		for i := range r.Trials {
			r.Trials[i].Metrics[gate.Strangers] = 0.1
			if r.Trials[i].Condition == "c2" {
				r.Trials[i].Metrics[gate.Strangers] += c.more
				r.Trials[i].Metrics[gate.Idle] = c.idle
			}
		}
		says := ""
		if c.want == Open {
			says = "others ran more in the slots where workers is 2, in 20 of 20 blocks"
		}
		expect(t, fmt.Sprint(c), one(x, r), c.want, says)
	}
}

// However many blocks follow one another closely, they are one piece of evidence, and the first counts.
// Otherwise a person could stop while they are ahead, and choose the result.
func TestOfBlocksThatAreNotApartTheFirstCounts(t *testing.T) {
	x := designed(t, "", atLeast)
	c := one(x, stay(ratios(x, times(18, 2)...), 18))
	expect(t, "all together", c, Open, "1 of 1 block lies at 1.5 or above; 7 are the least")
	if c.Blocks != 1 || c.For != 1 || c.Needed != 6 {
		t.Errorf("%+v", c)
	}
	for _, c := range []struct {
		first, second float64
		want          Verdict
	}{{2, 1, Confirmed}, {1, 2, Refuted}} {
		r := stay(ratios(x, slices.Repeat([]float64{c.first, c.second}, 9)...), 2)
		for range 2 {
			got := one(x, r)
			expect(t, fmt.Sprint(c), got, c.want, "")
			if got.Blocks != 9 || got.For+got.Against != 9 || (got.For == 9) != (c.want == Confirmed) {
				t.Errorf("%+v", got)
			}
			slices.Reverse(r.Trials) // as whatever comes first in a file
		}
	}
	// So it is of two runs within seconds of each other.
	a, b := Run{stay(ratios(x, 2, 2, 2), 3), x}, Run{stay(ratios(x, 2, 2, 2), 3), x}
	for i := range b.File.Trials {
		b.File.Trials[i].StartedAt = b.File.Trials[i].StartedAt.Add(5 * time.Second)
	}
	if c := claimsOf(x, a, b)[0]; c.Blocks != 1 {
		t.Errorf("%+v", c)
	}
}

// The order of trials and conditions, the names of blocks, the machine's speed, and repeated trials do not matter.
func TestOnlyTheRatiosOfBlocksMatter(t *testing.T) {
	x := designed(t, "", isFlat, rename(atLeast, "d"))
	r := ratios(x, 1.03, 0.98, 1.01, 1.00, 0.99, 1.02, 1.01, 0.97, 1.02, 1)
	want := claimsOf(x, Run{r, x})
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		rnd.Shuffle(len(r.Trials), func(i, j int) { r.Trials[i], r.Trials[j] = r.Trials[j], r.Trials[i] })
		slices.Reverse(r.Conditions)
		names := rnd.Perm(10)
		for i := range r.Trials {
			r.Trials[i].Block = 1 + names[r.Trials[i].Block-1]
			r.Trials[i].Metrics[rps] *= 2
		}
		if got := claimsOf(x, Run{r, x}); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order: %+v\nwant %+v", got, want)
		}
	}
	for i := range 10 { // a refused trial beside the one that counts, and a second that is valid
		again, better := r.Trials[i], r.Trials[i]
		spoil(&again)
		better.Metrics = values{rps: 1e9}
		r.Trials = append(append([]results.Trial{again}, r.Trials...), better)
	}
	if got := claimsOf(x, Run{r, x}); !reflect.DeepEqual(got, want) {
		t.Errorf("with repeated trials: %+v\nwant %+v", got, want)
	}
}

// At a single edge only one of the two answers can be wrong, so either side has the whole part of
// the error. Seven blocks decide such a claim, whichever side it wants, and eight decide one of two
// edges. Least tells a session the same.
func TestASingleEdgeHasTheWholePart(t *testing.T) {
	for _, c := range []struct {
		claim string
		ratio float64
		least int
	}{{atLeast, 2, 7}, {atMost, 0.4, 7}, {isFlat, 1, 8}} {
		x := designed(t, "", c.claim)
		few, enough := ratios(x, times(c.least-1, c.ratio)...), ratios(x, times(c.least, c.ratio)...)
		expect(t, "one too few", one(x, few), Open, fmt.Sprintf("; %d are the least", c.least))
		expect(t, "enough", one(x, enough), Confirmed, "")
		if got := Least(x, 2); got != c.least {
			t.Errorf("Least is %d, want %d: %s", got, c.least, c.claim)
		}
	}
}
