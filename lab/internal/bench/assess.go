package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// The metrics of a comparison. Only the first decides; the others are shown.
const (
	cost       = "server_cpu_per_request_s"
	throughput = "throughput_rps"
	p50        = "latency_p50_s"
	p99        = "latency_p99_s"
)

// Assess says what the blocks tell so far.
func (r *Run) Assess() *compare.Outcome {
	out := &compare.Outcome{
		SchemaVersion: compare.Version, Path: r.Requests[0].Path, Connections: r.Connections, Pipelining: r.Pipelining, RateRPS: r.Rate,
		Margin: float64(r.Margin), FailAbove: r.FailAbove, Confidence: stats.Confidence, NewEach: r.NoKeepalive,
		StartedAt: r.Began.UTC().Format(time.RFC3339), DurationS: math.Round(time.Since(r.Began).Seconds()*10) / 10, Seed: r.Seed,
		Blocks: len(r.Blocks), Trials: len(r.Blocks) * (len(r.Servers) + 1), SlotS: r.Slot.Seconds(), Rounds: r.Rounds,
		WarmupS: r.warm.Seconds(), ServerCPUs: machine.Format(r.ServerCPUs), ClientCPUs: machine.Format(r.ClientCPUs),
		Says: []string{}, Servers: []compare.Measured{}, Comparisons: []compare.Comparison{},
		Notes: append(slices.Clone(r.notes), r.remarks()...),
	}
	if spoken := probe.Spoken(r.Way); spoken != probe.Plain {
		out.Protocol = spoken
	}
	var all []map[string]float64
	for _, b := range r.Blocks {
		for _, t := range b.Trials {
			if all = append(all, t.Metrics); !valid(t) {
				out.Refused++
			}
		}
	}
	differs := r.control()
	if out.Differs = differs != ""; out.Differs {
		out.Notes = append(out.Notes, differs)
	}
	for i := range r.Servers {
		m := r.measured(i)
		if delayed := probe.Delayed(m.P50); delayed != "" {
			out.Notes = append(out.Notes, m.Name+": "+delayed)
		}
		if out.Servers = append(out.Servers, m); i > 0 {
			out.Comparisons = append(out.Comparisons, r.comparison(i, out.Differs))
		}
	}
	shared := slices.ContainsFunc(r.ServerCPUs, func(c int) bool { return slices.Contains(r.ClientCPUs, c) })
	if d := gate.Disturbed(all, shared); d != "" {
		out.Notes = append(out.Notes, d)
	}
	return out
}

// trials are a server's of the blocks that count.
func (r *Run) trials(i int) []measure.Trial {
	return strict.Filter(strict.Map(r.Blocks, func(b Block) measure.Trial { return b.Trials[i] }), valid)
}

// measured are the medians of a server's trials that count.
func (r *Run) measured(i int) compare.Measured {
	s := r.Servers[i]
	m := compare.Measured{Name: s.Name, Command: s.Command, URL: s.URL, Subject: s.Subject, Revision: s.Commit,
		NeverSteady: r.changes(i), Bound: "unknown", WarmupS: r.warm.Seconds()}
	all, bounds := map[string][]float64{}, map[string]int{}
	for _, t := range r.trials(i) {
		bounds[string(gate.WallsOf(t.Metrics, 0).Bound())]++
		m.Valid++
		for name, v := range t.Metrics {
			all[name] = append(all[name], v)
		}
	}
	m.Refused = len(r.Blocks) - m.Valid
	for name, to := range map[string]*float64{cost: &m.CPUPerRequest, throughput: &m.Throughput, p50: &m.P50, p99: &m.P99,
		"response_bytes": &m.ResponseBytes, "server_rss_bytes": &m.MemoryLoad} {
		if len(all[name]) > 0 {
			*to = words.Digits(stats.Median(all[name]))
		}
	}
	for _, b := range slices.Sorted(maps.Keys(bounds)) {
		if bounds[b] > m.Bounded {
			m.Bound, m.Bounded = b, bounds[b]
		}
	}
	return m
}

// ratios are those of two trials' figures, in the blocks in which servers a and b have both a valid one. A block that cannot
// tell has 0: it counts, and so makes every answer harder to reach.
func (r *Run) ratios(a, b, over, under int, metric string) (all []float64) {
	for _, block := range r.Blocks {
		if !valid(block.Trials[a]) || !valid(block.Trials[b]) {
			continue
		}
		x, y, ratio := block.Trials[over], block.Trials[under], 0.0
		if v, w := x.Metrics[metric], y.Metrics[metric]; valid(x) && valid(y) && v > 0 && w > 0 {
			ratio = v / w
		}
		all = append(all, ratio)
	}
	return all
}

// ratio is that of a metric of a server to the first's; nil where no block has the metric. Those of cost are there once
// more where the control repeats one of the two, but for servers that ran already, of which it shares the one start.
func (r *Run) ratio(i int, metric string) *compare.Ratio {
	all, again := compare.Ratios{Each: r.ratios(i, 0, i, 0, metric)}, len(r.Servers)
	x := compare.Over(all.Each, r.level())
	if metric == cost {
		switch {
		case r.Running():
		case r.Control == i:
			all.Again = r.ratios(i, 0, again, 0, cost)
		case r.Control == 0:
			all.Again = r.ratios(i, 0, i, again, cost)
		}
		x = all.Interval(r.level())
	}
	if x != nil {
		x.Ratio, x.Low, x.High = words.Digits(x.Ratio), words.Digits(x.Low), words.Digits(x.High)
		for _, each := range [][]float64{x.Each, x.Again} {
			for n, v := range each {
				each[n] = words.Significant(v, 6)
			}
		}
	}
	return x
}

// controlAlpha is how likely an equal control seems to differ, by any metric, direction and number
// of blocks.
const controlAlpha = 0.01

// control says how one server that was measured twice differed from itself; empty if it did not.
func (r *Run) control() string {
	for _, c := range []struct{ metric, name string }{{cost, "server CPU per request"}, {throughput, "throughput"}} {
		all := r.ratios(r.Control, len(r.Servers), len(r.Servers), r.Control, c.metric)
		above := strict.Count(all, func(v float64) bool { return v > 1 })
		below := strict.Count(all, func(v float64) bool { return v > 0 && v < 1 }) // 0 is of a block that cannot tell
		if k, n := max(above, below), above+below; n > 0 && confseq.Shown(k, n, controlAlpha/4) {
			return fmt.Sprintf("%s measured twice under two names differed from itself: of %d ratios of its %s %d lie on one side of 1",
				r.Servers[r.Control].Name, n, c.name, k)
		}
	}
	return ""
}

// strange says that more ran beside one of two servers: work that the other leaves behind, which runs in its slots, or work
// of strangers that follows it. It is empty if that cannot explain the ratio. As long as all blocks say so the ratio is not
// believed either: a verdict may come before the bet can tell.
func (r *Run) strange(i int, ratio *compare.Ratio) string {
	var more []float64
	for _, b := range r.Blocks {
		x, y := b.Trials[i], b.Trials[0]
		if !valid(x) || !valid(y) {
			continue
		}
		more = append(more, x.Metrics[gate.Idle]-y.Metrics[gate.Idle]+x.Strangers-y.Strangers)
	}
	by, k, n, follows := gate.Follows(more, ratio.Ratio)
	if !follows && (k < n || !gate.Explains(by, ratio.Ratio)) {
		return ""
	}
	if by < 0 {
		i = 0
	}
	return fmt.Sprintf("more ran beside %s than beside the other, in %d of %d blocks and by %.2f of a core: work that the other leaves "+
		"behind, or that follows this one, so the comparison is not fair", r.Servers[i].Name, k, n, math.Abs(by))
}

// mostFailed is the share of a server's answers that may be wrong, or not come, for a verdict on
// its cost.
const mostFailed = 0.01

// tally is that of a server so far, the look included.
func (r *Run) tally(i int) measure.Tally {
	t := r.Servers[i].seen
	for _, b := range r.Blocks {
		t.Add(b.Trials[i].Tally)
	}
	return t
}

// failing says what shares of the answers of a server and the first failed, and whether that rules
// out a verdict on cost. It does if one is above the most, or they lie further apart than chance
// has it, by three standard errors.
func (r *Run) failing(i int) (says string, much bool) {
	x, y := r.tally(i), r.tally(0)
	for n, t := range []measure.Tally{x, y} {
		what := "failed, the first: " + t.First
		if status, is := strings.CutPrefix(t.First, "status "); is {
			what = "were " + status
		}
		for _, one := range []struct {
			n    int64
			what string
		}{{t.Failed, what}, {t.Again, "came only when they were asked for again, since it closed their connections"}} {
			if one.n > 0 {
				says += fmt.Sprintf("; %s of the answers of %s (%s of %s) %s", words.Share(t.Share(one.n)), r.Servers[i*(1-n)].Name,
					words.Thousands(int(one.n)), words.Thousands(int(t.Asked)), one.what)
			}
		}
	}
	both := x
	both.Add(y)
	share, by := both.Share(both.Failed), x.Share(x.Failed)-y.Share(y.Failed)
	apart := 3 * math.Sqrt(share*(1-share)*(x.Share(1)+y.Share(1)))
	return strings.TrimPrefix(says, "; "), max(x.Share(x.Failed), y.Share(y.Failed)) > mostFailed || math.Abs(by) > apart
}

// changing counts the blocks in which a server's bodies changed.
func (r *Run) changing(i int) int {
	return strict.Count(r.Blocks, func(b Block) bool { return b.Trials[i].Tally.Varies })
}

// unlike says that the bodies of a server or the first changed in most blocks, and those of the other in none. It is
// empty if those of both did, as where they hold the second, or where answers may differ.
func (r *Run) unlike(i int) string {
	for _, pair := range [][2]int{{i, 0}, {0, i}} {
		if one, other := pair[0], pair[1]; !r.Different && 2*r.changing(one) > len(r.Blocks) && r.changing(other) == 0 {
			return fmt.Sprintf("the bodies of %s change in the course of the load, and those of %s do not", r.Servers[one].Name,
				r.Servers[other].Name)
		}
	}
	return ""
}

// comparison judges a server against the first.
func (r *Run) comparison(i int, differs bool) compare.Comparison {
	c := compare.Comparison{Name: r.Servers[i].Name, Base: r.Servers[0].Name, Verdict: compare.Undecided,
		CPUPerRequest: r.ratio(i, cost), Throughput: r.ratio(i, throughput), P50: r.ratio(i, p50), P99: r.ratio(i, p99)}
	if r.FailAbove > 0 {
		c.Above = compare.AboveOpen
	}
	both, begun := len(r.ratios(i, 0, i, 0, throughput)), len(r.Blocks)
	never, margin := r.never(i), float64(r.Margin)
	failed := cmp.Or(r.failures(i), r.failures(0))
	x := c.CPUPerRequest
	wrong, much := r.failing(i)
	unlike := r.unlike(i)
	c.Failed = wrong
	switch {
	case (begun >= stats.MinSamples || r.fails()) && 2*both < begun:
		c.Verdict, c.Says = compare.Invalid, "no verdict: "+failed
		return c
	case begun >= r.least() && much:
		c.Verdict, c.Says, c.CPUPerRequest = compare.Failing, "no verdict on cost, since answers failed", nil
		return c
	case begun >= r.least() && unlike != "":
		c.Verdict, c.Says, c.CPUPerRequest = compare.Failing, "no verdict on cost: "+unlike, nil
		return c
	case !r.Costed():
		c.Verdict, c.CPUPerRequest = compare.Uncosted, nil
		c.Says = "no CPU figures of servers given by address alone, so no verdict on cost; throughput and latency " +
			"follow, and what bounded them on the servers' side is not known"
		if !c.Settled(margin) {
			c.FurtherS = r.further(c.Throughput)
		}
		return c
	case differs:
		c.Says = c.NotDecided(margin, r.level(), failed)
		return c
	case never != "":
		c.NeverSteady, c.Says = true, "not decided, never steady: "+never
		return c
	case x.Known():
		if why := r.strange(i, x); why != "" {
			c.Says = "not decided: " + why
			return c
		}
		if c.Verdict = x.Judge(margin); r.FailAbove > 0 {
			c.Above = x.Against(r.FailAbove)
		}
	}
	if c.Verdict == compare.Undecided || c.Above == compare.AboveOpen {
		c.FurtherS = r.further(x)
	}
	switch {
	case c.Verdict == compare.Undecided:
		c.Says = c.NotDecided(margin, r.level(), failed)
	case c.Above == compare.AboveOpen:
		c.Says = fmt.Sprintf("%s; whether that is above %v is not decided%s", c.Sentence(margin), r.FailAbove, c.More())
	default:
		c.Says = c.Sentence(margin)
	}
	if c.Verdict == compare.Undecided || r.Warmup != nil {
		return c
	}
	if young := strict.Filter([]int{0, i}, func(n int) bool { return r.Servers[n].young || r.changes(n) != "" }); len(young) > 0 {
		c.Says += fmt.Sprintf("; %s still warmed up, so this is about the first seconds",
			words.List(strict.Map(young, func(n int) string { return r.Servers[n].Name })))
	}
	return c
}

// never says how a server's CPU a request went on changing otherwise than the first's; empty if it did not, or the warm-up
// was given. Servers that take turns and change alike, as those that compile themselves, have a ratio at any age.
func (r *Run) never(i int) string {
	if r.Warmup != nil {
		return ""
	}
	if by, is := shift(r.moves(i)); is {
		return fmt.Sprintf("from one half of a block to the other the CPU a request of %s over that of %s went to × %.3f; a larger "+
			"--budget looks on for longer, and --warmup takes both as they are then", r.Servers[i].Name, r.Servers[0].Name, by)
	}
	return ""
}

// changes says how a server's CPU a request went the same way in block after block, from half to half; empty if it did not.
func (r *Run) changes(i int) string {
	if by, is := shift(r.halves(i)); is {
		return fmt.Sprintf("from one half of a block to the other its CPU a request went to × %.3f", by)
	}
	return ""
}

// halves are by how much a server's CPU a request changed from one half of each block to the other; 0 where that is not known.
func (r *Run) halves(i int) []float64 {
	return strict.Map(r.Blocks, func(b Block) float64 {
		t := b.Trials[i]
		turns := strict.Map(t.Slots, func(s slots.Slot) turn { return turn{s.Requests, s.ServerCPUS} })
		half := len(turns) / 2
		before, _ := costOf(turns[:half])
		after, _ := costOf(turns[len(turns)-half:])
		if !valid(t) || t.Metrics[cost] == 0 || before == 0 {
			return 0
		}
		return after / before
	})
}

// moves are by how much the ratio of a server's CPU a request to the first's changed likewise; 0 where that is not known.
func (r *Run) moves(i int) []float64 {
	own, first := r.halves(i), r.halves(0)
	for n := range own {
		own[n] /= cmp.Or(first[n], math.Inf(1))
	}
	return own
}

// shift is the median of changes, and whether they surely go one way by more than drift.
func shift(changes []float64) (by float64, is bool) {
	x := compare.Over(strict.Filter(changes, func(v float64) bool { return v > 0 }), stats.Alpha)
	if !x.Known() || x.Low <= 1+drift && x.High >= 1/(1+drift) {
		return 1, false
	}
	return x.Ratio, true
}

// remarks are what to know before relying on the figures.
func (r *Run) remarks() (all []string) {
	remark := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if r.Warmup == nil && r.warm > lookSlot {
		remark("each server was loaded for %.1f s after each start before anything counted", r.warm.Seconds())
	}
	var changing []string
	for i, s := range r.Servers {
		if r.changing(i) > 0 && !r.vary {
			changing = append(changing, s.Name)
		}
		if why := r.failures(i); why != "" {
			remark("nothing of these counts: %s", why)
		}
		reopened := int64(0)
		for _, b := range r.Blocks {
			reopened += b.Trials[i].Reopened
		}
		if reopened > 0 {
			remark("%s opened anew, since %s announced the end or closed while nothing was under way",
				words.Count(int(reopened), "connection was", "connections were"), s.Name)
		}
		if why := r.changes(i); r.Warmup != nil && why != "" {
			remark("%s was still warming up: %s; give it a longer --warmup", s.Name, why)
		}
	}
	if changing != nil {
		remark("the bodies of %s change in the course of the load, so their bytes could not be compared; --expect says what must "+
			"be in them", words.List(changing))
	}
	if r.Running() && r.Costed() {
		remark("the servers ran already and were not started afresh for each block, so what differs between two starts of one " +
			"build stays hidden")
	}
	return all
}

// failures say how a server first failed, and in how many blocks; empty if it did not.
func (r *Run) failures(i int) string {
	failed := strict.Filter(r.Blocks, func(b Block) bool { return !valid(b.Trials[i]) })
	if len(failed) == 0 {
		return ""
	}
	return fmt.Sprintf("%s failed in %d of %d blocks, first with: %s", r.Servers[i].Name, len(failed), len(r.Blocks),
		failed[0].Trials[i].Faults[0].Detail)
}

// further estimates the seconds until a ratio is decided, if its blocks go on as before; 0 if unknown.
func (r *Run) further(x *compare.Ratio) float64 {
	if r.fails() {
		return 0
	}
	took := time.Duration(0)
	for _, b := range r.Blocks {
		took += b.Took
	}
	return math.Ceil(float64(x.Further(r.level(), float64(r.Margin), r.FailAbove)) * took.Seconds() / float64(len(r.Blocks)))
}
