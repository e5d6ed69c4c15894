package bench

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/stats"
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
		SchemaVersion: compare.Version, Path: r.Path, Connections: r.Connections, Pipelining: r.Pipelining, RateRPS: r.Rate,
		Margin: r.Margin, FailAbove: r.FailAbove, Confidence: stats.Confidence, NewEach: r.Close, Protocol: r.Way.Beyond(),
		StartedAt: r.Began.UTC().Format("2006-01-02T15:04:05Z"), DurationS: r.took(), Seed: r.Seed, Blocks: len(r.Blocks),
		SlotS: r.Slot.Seconds(), Rounds: r.Rounds, ServerCPUs: cores.Format(r.ServerCPUs), ClientCPUs: cores.Format(r.ClientCPUs),
		Says: []string{}, Servers: []compare.Measured{}, Comparisons: []compare.Comparison{},
	}
	for _, one := range r.Requests {
		var names []string
		for _, h := range one.Headers {
			names = append(names, h[0])
		}
		out.Asked = append(out.Asked, compare.Asked{Name: one.Label(), Method: one.Method, Path: one.Path, Headers: names,
			BodyBytes: len(one.Body), Weight: cmp.Or(one.Weight, 1), Status: one.Status, Checked: one.Check != nil})
	}
	var all []map[string]float64
	for _, b := range r.Blocks {
		for _, t := range b.Trials {
			out.Trials++
			if all = append(all, t.Metrics); !valid(t) {
				out.Refused++
			}
		}
	}
	for i := range r.Servers {
		out.Servers = append(out.Servers, r.measured(i))
		out.WarmupS = max(out.WarmupS, out.Servers[i].WarmupS)
	}
	differs := r.control()
	out.Differs = differs != ""
	for i := 1; i < len(r.Servers); i++ {
		out.Comparisons = append(out.Comparisons, r.comparison(i, out.Differs))
	}
	out.Notes = r.notes(out, differs)
	shared := slices.ContainsFunc(r.ServerCPUs, func(c int) bool { return slices.Contains(r.ClientCPUs, c) })
	if len(all) > 0 {
		if d := gate.Disturbed(all, shared).String(); d != "" {
			out.Notes = append(out.Notes, d)
		}
	}
	return out
}

// of are the valid figures of a server, or of the control.
func (r *Run) of(i int, metric string) (all []float64) {
	for _, b := range r.Blocks {
		if v, ok := b.Trials[i].Metrics[metric]; ok && valid(b.Trials[i]) {
			all = append(all, v)
		}
	}
	return all
}

func (r *Run) measured(i int) compare.Measured {
	s := r.Servers[i]
	median := func(name string) float64 {
		if all := r.of(i, name); len(all) > 0 {
			return words.Digits(stats.Median(all))
		}
		return 0
	}
	m := compare.Measured{Name: s.Name, Command: s.Command, URL: s.URL, Subject: s.Subject, Revision: s.Commit,
		NeverSteady: r.never(i), CPUPerRequest: median(cost), Throughput: median(throughput), P50: median(p50), P99: median(p99),
		ResponseBytes: median("response_bytes"), MemoryLoad: median("server_rss_bytes"), ByRequest: r.byRequest(i), Bound: "unknown",
		WarmupS: r.Looks[i].Warmup.Seconds()}
	bounds := map[string]int{}
	for _, b := range r.Blocks {
		if t := b.Trials[i]; valid(t) {
			bound, _ := gate.DecideBound(gate.EvidenceOf(t.Metrics, 0))
			bounds[string(bound)]++
			m.Valid++
		} else {
			m.Refused++
		}
	}
	for _, b := range slices.Sorted(maps.Keys(bounds)) {
		if bounds[b] > m.Bounded {
			m.Bound, m.Bounded = b, bounds[b]
		}
	}
	return m
}

// byRequest adds up what came of each request of a server: medians of its valid trials'
// percentiles, and all faults.
func (r *Run) byRequest(i int) (all []compare.Came) {
	for n, one := range r.Requests {
		came := compare.Came{Name: one.Label()}
		var p50s, p99s []float64
		for _, b := range r.Blocks {
			t := b.Trials[i]
			if n >= len(t.ByRequest) {
				continue
			}
			s := t.ByRequest[n]
			came.Faults += s.Unexpected + s.Lost + s.Mismatches
			if l := s.Latency; l != nil {
				came.Requests += l.N
				if valid(t) {
					p50s, p99s = append(p50s, l.P50), append(p99s, l.P99)
				}
			}
		}
		if len(p50s) > 0 {
			came.P50, came.P99 = stats.Median(p50s), stats.Median(p99s)
		}
		all = append(all, came)
	}
	return all
}

// ratios are those of two trials' figures, in the blocks in which servers a and b have both a valid
// one. A block that cannot tell, for want of a figure or with one of 0, may have any ratio: it counts,
// and so makes every answer harder to reach.
func (r *Run) ratios(a, b, over, under int, metric string) (least, most []float64) {
	for _, block := range r.Blocks {
		if !valid(block.Trials[a]) || !valid(block.Trials[b]) {
			continue
		}
		x, y := block.Trials[over], block.Trials[under]
		low, high := 0.0, math.Inf(1)
		if v, w := x.Metrics[metric], y.Metrics[metric]; valid(x) && valid(y) && v > 0 && w > 0 {
			low, high = v/w, v/w
		}
		least, most = append(least, low), append(most, high)
	}
	return least, most
}

// costs are the ratios of cost, once more where the control repeats one of the two. A server that ran
// already has one start only, which the control then shares: it shows nothing of what starts alone do.
func (r *Run) costs(i int) (c compare.Ratios) {
	c.Least, c.Most = r.ratios(i, 0, i, 0, cost)
	over, under := i, 0
	switch {
	case r.Running():
		return c
	case r.Control == i:
		over = len(r.Servers)
	case r.Control == 0:
		under = len(r.Servers)
	default:
		return c
	}
	c.AgainLeast, c.AgainMost = r.ratios(i, 0, over, under, cost)
	return c
}

// ratio is nil where no block has the metric.
func (r *Run) ratio(i int, metric string) *compare.Ratio {
	least, most := r.ratios(i, 0, i, 0, metric)
	x := compare.Over(least, most, r.level())
	if metric == cost {
		x = r.costs(i).Interval(r.level())
	}
	if x != nil {
		x.Ratio, x.Low, x.High = words.Digits(x.Ratio), words.Digits(x.Low), words.Digits(x.High)
		for _, all := range [][]float64{x.Each, x.Again} {
			for n, v := range all {
				all[n] = words.Significant(v, 6)
			}
		}
	}
	return x
}

// controlAlpha is the probability that the A/A control is said to differ where nothing differs, over
// both metrics and any number of blocks, and that a stranger is said to follow one server that does not.
const controlAlpha = 0.01

// control says how one server that was measured twice differed from itself; empty if it did not.
func (r *Run) control() string {
	for _, metric := range []string{cost, throughput} {
		least, _ := r.ratios(r.Control, len(r.Servers), len(r.Servers), r.Control, metric)
		above, n := 0, 0
		for _, v := range least {
			if v > 0 && v != 1 {
				if n++; v > 1 {
					above++
				}
			}
		}
		for _, side := range []struct {
			k    int
			word string
		}{{above, "above"}, {n - above, "below"}} {
			if confseq.Shown(side.k, n, controlAlpha/4) {
				return fmt.Sprintf("%s measured twice under two names differed from itself: %d of %d ratios of its %s lie %s 1",
					r.Servers[r.Control].Name, side.k, n, words.LowerFirst(words.Metric(metric)), side.word)
			}
		}
	}
	return ""
}

// A machine's other work that follows one server would make the other look better. So it is bet on in
// which one's slots others ran more, and a difference that this may explain is not believed: one of
// less than strangeFactor times what they ran more, as a share of a core.
const (
	leastStrange  = 0.02
	strangeFactor = 2
)

// strange says that what else ran on the machine follows one of two servers; empty if it does not.
func (r *Run) strange(i int, ratio *compare.Ratio) string {
	var more []float64
	above := 0
	for _, b := range r.Blocks {
		if b.Strangers == nil || !valid(b.Trials[i]) || !valid(b.Trials[0]) || b.Strangers[i] == b.Strangers[0] {
			continue
		}
		more = append(more, b.Strangers[i]-b.Strangers[0])
		if b.Strangers[i] > b.Strangers[0] {
			above++
		}
	}
	if len(more) == 0 || ratio == nil {
		return ""
	}
	by, name := stats.Median(more), r.Servers[i].Name
	k := above
	if by < 0 {
		k, name = len(more)-above, r.Servers[0].Name
	}
	if by = math.Abs(by); by < leastStrange || math.Abs(ratio.Ratio-1) > strangeFactor*by ||
		!confseq.Shown(k, len(more), controlAlpha/2) {
		return ""
	}
	return fmt.Sprintf("other processes ran more while %s was loaded, in %d of %d blocks and by %.2f of a core: something follows "+
		"it, as work that it leaves to others, so this comparison is not fair", name, k, len(more), by)
}

// comparison judges a server against the first.
func (r *Run) comparison(i int, differs bool) compare.Comparison {
	c := compare.Comparison{Name: r.Servers[i].Name, Base: r.Servers[0].Name, Verdict: compare.Undecided}
	c.CPUPerRequest, c.Throughput = r.ratio(i, cost), r.ratio(i, throughput)
	c.P50, c.P99 = r.ratio(i, p50), r.ratio(i, p99)
	if !r.Costed() {
		c.Verdict, c.CPUPerRequest = compare.Uncosted, nil
	}
	if r.FailAbove > 0 {
		c.Above = compare.AboveOpen
	}
	least, _ := r.ratios(i, 0, i, 0, throughput)
	if begun := len(r.Blocks); (begun >= stats.MinSamples || r.Ended != "") && 2*len(least) < begun {
		c.Verdict, c.Says = compare.Invalid, "no verdict: "+r.refusals(i)
		return c
	}
	if differs && c.Verdict != compare.Uncosted {
		c.Says = c.NotDecided(r.Margin, r.level(), r.refusals(i))
		return c
	}
	if why := cmp.Or(r.never(0), r.never(i)); why != "" {
		c.NeverSteady = true
		c.Says = "not decided, never steady: " + why
		return c
	}
	if x := c.CPUPerRequest; x.Known() && c.Verdict != compare.Uncosted {
		if why := r.strange(i, x); why != "" {
			c.Says = "not decided: " + why
			return c
		}
		c.Verdict = x.Judge(r.Margin)
		if r.FailAbove > 0 {
			c.Above = x.Against(r.FailAbove)
		}
	}
	switch {
	case c.Verdict == compare.Uncosted:
		c.Says = "no CPU figures of servers that only an address is given of, so nothing is said of cost; "
		if len(least) == 0 {
			c.Says += r.refusals(i)
		} else {
			c.Says += "throughput and latency follow, and what bounded them on the servers' side is not known"
		}
		if !c.Settled(r.Margin) {
			c.FurtherS = r.further(i, throughput)
		}
	case c.Verdict == compare.Undecided:
		c.FurtherS = r.further(i, cost)
		c.Says = c.NotDecided(r.Margin, r.level(), r.refusals(i))
	default:
		c.Says = c.Sentence(r.Margin)
		if c.Above == compare.AboveOpen {
			c.FurtherS = r.further(i, cost)
			c.Says += fmt.Sprintf("; whether that is above %v is not decided%s", r.FailAbove, c.More())
		}
	}
	return c
}

// never says of a server that was never steady how its cost went on; empty if it was, and where
// its warm-up was given.
func (r *Run) never(i int) string {
	why := cmp.Or(r.Looks[i].Never, r.changes(i))
	if !r.Steady || why == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s; a larger --budget looks on for longer, and --warmup takes it as it is then",
		r.Servers[i].Name, why)
}

// changes says how a server's CPU a request went the same way in block after block, from one half
// of its slots to the other; empty if it did not.
func (r *Run) changes(i int) string {
	var ratios []float64
	for _, b := range r.Blocks {
		t := b.Trials[i]
		if !valid(t) || t.Slots == nil || t.Metrics[cost] == 0 {
			continue
		}
		var turns []turn
		for n, requests := range t.Slots.Requests {
			turns = append(turns, turn{requests, t.Slots.ServerCPUS[n]})
		}
		half := len(turns) / 2
		before, _ := costOf(turns[:half])
		if after, _ := costOf(turns[len(turns)-half:]); before > 0 {
			ratios = append(ratios, after/before)
		}
	}
	x := compare.Over(ratios, ratios, stats.Alpha)
	switch {
	case !x.Known():
	case x.Low > 1+drift:
		return fmt.Sprintf("from one half of a block to the other its CPU a request rose to × %.3f", x.Ratio)
	case x.High < 1/(1+drift):
		return fmt.Sprintf("from one half of a block to the other its CPU a request fell to × %.3f", x.Ratio)
	}
	return ""
}

// unlike is the share by which mean lengths of answers may differ without a word: bodies that
// vary have no more in common than their mean.
const unlike = 0.01

// notes are what to know before relying on the figures.
func (r *Run) notes(out *compare.Outcome, differs string) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if r.Ended != "" {
		note("it ended before its budget was spent, after %.0f of %.0f s: %s", r.took(), r.Budget.Seconds(), r.Ended)
	}
	for i, s := range r.Servers {
		if n, first := r.failures(i); n > 0 {
			note("%s failed in %d of %d blocks, and nothing of these counts: %s", s.Name, n, len(r.Blocks), first)
		}
		switch why := r.changes(i); {
		case !r.Steady && why != "":
			note("%s was still warming up: %s; give it a longer --warmup", s.Name, why)
		case r.Looks[i].Warmup > lookSlot && r.Steady:
			note("%s was loaded for %.1f s after each start before anything counted: so long it took until its CPU a request was "+
				"steady", s.Name, r.Looks[i].Warmup.Seconds())
		}
		if n := r.reopened(i); n > 0 {
			note("%s connections of %s were opened anew, since it announced their end", words.Thousands(int(n)), s.Name)
		}
	}
	if r.Running() && r.Costed() {
		note("the servers ran already and were not started afresh for each block, so what differs between two starts of one " +
			"build stays hidden")
	}
	for i := range out.Comparisons {
		m, base := out.Servers[i+1], out.BaseOf(i)
		if m.ResponseBytes > 0 && base.ResponseBytes > 0 && math.Abs(m.ResponseBytes/base.ResponseBytes-1) > unlike {
			note("an answer of %s has %s bytes with its head, one of %s %s", m.Name, words.Grouped(m.ResponseBytes, 0), base.Name,
				words.Grouped(base.ResponseBytes, 0))
		}
	}
	if differs != "" {
		notes = append(notes, differs)
	}
	return notes
}

// reopened is how many connections a server announced the end of.
func (r *Run) reopened(i int) (n int64) {
	for _, b := range r.Blocks {
		n += b.Trials[i].Reopened
	}
	return n
}

// failures are in how many blocks a server failed, and how it did first.
func (r *Run) failures(i int) (n int, first string) {
	for _, b := range r.Blocks {
		if t := b.Trials[i]; !valid(t) {
			n, first = n+1, cmp.Or(first, t.Faults[0].Detail)
		}
	}
	return n, first
}

// refusals says why so many blocks have no two valid trials.
func (r *Run) refusals(i int) string {
	for _, at := range []int{i, 0} {
		if n, first := r.failures(at); n > 0 {
			return fmt.Sprintf("%s failed in %d of %d blocks, first with: %s", r.Servers[at].Name, n, len(r.Blocks), first)
		}
	}
	return fmt.Sprintf("of %d blocks none has both", len(r.Blocks))
}

// further estimates the seconds until a metric's ratio is decided, if its blocks go on as before;
// 0 if unknown.
func (r *Run) further(i int, metric string) float64 {
	least, most := r.ratios(i, 0, i, 0, metric)
	if len(least) == 0 || r.Ended != "" {
		return 0
	}
	blocks := compare.Further(least, most, r.level(), r.Margin, r.FailAbove)
	if metric == cost {
		blocks = r.costs(i).Further(r.level(), r.Margin, r.FailAbove)
	}
	took := 0.0
	for _, b := range r.Blocks {
		took += b.Took.Seconds()
	}
	return math.Ceil(float64(blocks) * took / float64(len(r.Blocks)))
}

// variesIn tells whether a server's bodies change by themselves.
func variesIn(l Look) bool { return probe.Varies(l.Answers) }
