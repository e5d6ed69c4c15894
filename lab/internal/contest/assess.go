package contest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// The metrics of a comparison. Only the first decides; the others are shown.
const (
	cost       = "server_cpu_per_request_s"
	throughput = "throughput_rps"
	p50        = "latency_p50_s"
	p99        = "latency_p99_s"
)

// Assess says what a run's blocks tell. x is the design that the run was made
// with, whose conditions are the servers in their order, and whose first claim is
// about cost; h is the machine.
func Assess(o Options, x *experiment.Experiment, h *host.Profile, f *results.File, took float64) *compare.Outcome {
	a := &assessment{o: o, f: f, level: o.level(), took: took, stay: verdict.StayOf(h, verdict.Run{File: f, Then: x})}
	out := a.outcome()
	for i := range o.Servers {
		out.Servers = append(out.Servers, a.measured(i))
	}
	for i := 1; i < len(o.Servers); i++ {
		c := a.comparison(i)
		out.Comparisons = append(out.Comparisons, c)
	}
	out.Notes = append(append(out.Notes, a.failures()...), a.starts()...)
	out.Notes = append(append(out.Notes, strict.Called(f.Warnings, o.Named)...), doubts(out)...)
	if control := a.stay.Control; control != nil && control.Outcome == verdict.Differs {
		out.Differs = true
		out.Notes = append(out.Notes, "one server measured twice under two names differed from itself: "+control.Reason)
	}
	return out
}

// level is the error that one interval may have: those of a metric share it.
func (o Options) level() float64 { return stats.Alpha / float64(len(o.Servers)-1) }

type assessment struct {
	o     Options
	f     *results.File
	stay  *verdict.Stay
	level float64
	took  float64 // seconds so far
}

func (a *assessment) outcome() *compare.Outcome {
	o, f := a.o, a.f
	out := &compare.Outcome{
		SchemaVersion: compare.Version, Path: o.Path, Connections: o.Connections, Pipelining: o.Pipelining, RateRPS: o.Rate,
		LineRateBps: o.LineRate, Margin: o.Margin, FailAbove: o.FailAbove, Confidence: stats.Confidence,
		DurationS: math.Round(a.took*10) / 10, Trials: len(f.Trials), Says: []string{}, Servers: []compare.Measured{},
		Comparisons: []compare.Comparison{},
	}
	out.NewEach, out.Protocol = o.Close, o.Way.Beyond()
	for _, r := range o.Requests {
		names := strict.Called(r.Headers, func(h [2]string) string { return h[0] })
		out.Asked = append(out.Asked, compare.Asked{Name: r.Label(), Method: r.Method, Path: r.Path, Headers: names,
			BodyBytes: len(r.Body), Weight: cmp.Or(r.Weight, 1), Status: r.Status, Checked: r.Check != nil})
	}
	out.Refused = strict.Count(f.Trials, func(t results.Trial) bool { return !t.Valid })
	p := f.Provenance
	out.Blocks, out.Seed, out.StartedAt = p.Blocks, p.Seed, p.StartedAt.UTC().Format("2006-01-02T15:04:05Z")
	out.ServerCPUs, out.ClientCPUs, out.Lab = p.ServerCPUs, p.ClientCPUs, builtFrom()
	out.SlotS, out.Rounds, out.WarmupS = p.Block.SlotS, p.Block.Rounds, p.Block.WarmupS
	if a.failing() {
		out.Notes = append(out.Notes, fmt.Sprintf("it ended before its budget was spent, after %.0f of %.0f s: %s", a.took,
			o.Budget.Seconds(), o.Named(p.StoppedEarly)))
	}
	return out
}

// builtFrom is the commit of this program's sources, and unknown if they differed from it.
func builtFrom() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		if of := program.StampOf(info); !of.Modified {
			return cmp.Or(of.Commit, host.UnknownCommit)
		}
	}
	return host.UnknownCommit
}

// condition is the id of a server's condition. Levels rise with the servers' order.
func (a *assessment) condition(i int) string { return a.stay.Conditions[i].ID }

// look is what was seen of a server beforehand, empty where nobody looked.
func (a *assessment) look(i int) (l Look) {
	if i < len(a.o.Looks) {
		l = a.o.Looks[i]
	}
	return l
}

func (a *assessment) measured(i int) compare.Measured {
	s := a.o.Servers[i]
	of := a.stay.Conditions[i]
	median := func(name string) float64 {
		if m := of.Metrics[name].Median; m != nil {
			return *m
		}
		return 0
	}
	m := compare.Measured{Name: s.Name, Command: s.Command, URL: s.URL, Subject: s.Subject, Revision: s.Commit,
		NeverSteady: a.never(i), CPUPerRequest: median(cost),
		Throughput: median(throughput), P50: median(p50), P99: median(p99), ResponseBytes: median("response_bytes"),
		MemoryLoad: median("server_rss_bytes"),
		ByRequest:  a.byRequest(i), Bound: "unknown", Valid: of.Trials - of.Invalid, Refused: of.Invalid,
		WarmupS: a.look(i).Warmup.Seconds(), RequestBytes: words.Digits(a.look(i).RequestBytes)}
	for _, b := range slices.Sorted(maps.Keys(of.Bounds)) {
		if of.Bounds[b] > m.Bounded {
			m.Bound, m.Bounded = b, of.Bounds[b]
		}
	}
	return m
}

// byRequest adds up what came of each request of a server: medians of its valid trials'
// percentiles, and all faults.
func (a *assessment) byRequest(i int) (all []compare.Came) {
	for n, r := range a.o.Requests {
		came := compare.Came{Name: r.Label()}
		var p50s, p99s []float64
		for _, t := range a.f.Trials {
			if t.Condition != a.condition(i) || n >= len(t.ByRequest) {
				continue
			}
			one := t.ByRequest[n]
			came.Faults += one.Unexpected + one.Lost + one.Mismatches
			if l := one.Latency; l != nil {
				came.Requests += l.N
				if t.Valid {
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

// costs are the ratios of cost, once more where the control repeats one of the two. A server that ran
// already has one start only, which the control then shares: it is not like the other's, and shows
// nothing of what starts alone do.
func (a *assessment) costs(i int) (r compare.Ratios) {
	r.Least, r.Most = a.stay.Ratios(i, 0, cost)
	if !a.o.Running() {
		r.AgainLeast, r.AgainMost = a.stay.Again(i, 0, cost)
	}
	return r
}

// ratio is nil where no block has the metric.
func (a *assessment) ratio(i int, metric string) *compare.Ratio {
	least, most := a.stay.Ratios(i, 0, metric)
	r := compare.Over(least, most, a.level)
	if metric == cost {
		r = a.costs(i).Interval(a.level)
	}
	if r != nil {
		r.Ratio, r.Low, r.High = words.Digits(r.Ratio), words.Digits(r.Low), words.Digits(r.High)
		for _, all := range [][]float64{r.Each, r.Again} {
			for n, v := range all {
				all[n] = words.Significant(v, 6)
			}
		}
	}
	return r
}

// comparison judges a server against its base.
func (a *assessment) comparison(i int) compare.Comparison {
	o, control := a.o, a.stay.Control
	c := compare.Comparison{Name: o.Servers[i].Name, Base: o.Servers[0].Name, Verdict: compare.Undecided}
	c.CPUPerRequest, c.Throughput = a.ratio(i, cost), a.ratio(i, throughput)
	c.P50, c.P99 = a.ratio(i, p50), a.ratio(i, p99)
	c.OwnWork = ownWork(i, a.stay.Relative)
	if !o.Costed() {
		c.Verdict, c.CPUPerRequest = compare.Uncosted, nil
	}
	if o.FailAbove > 0 {
		c.Above = compare.AboveOpen
	}
	begun := a.stay.Begun
	costs := a.costs(i)
	complete := len(costs.Least)
	if (begun >= stats.MinSamples || a.failing()) && 2*complete < begun {
		c.Verdict, c.Says = compare.Invalid, "no verdict: "+a.refusals(i)
		return c
	}
	if control != nil && control.Outcome != verdict.Same && c.Verdict != compare.Uncosted {
		// Too few blocks, or a machine on which a server differs from itself.
		if control.Outcome == verdict.Undecided {
			c.FurtherS = a.further(i, cost)
		}
		c.Says = c.NotDecided(o.Margin, a.level, a.refusals(i))
		return c
	}
	if why := cmp.Or(a.never(0), a.never(i)); why != "" {
		c.NeverSteady = true
		c.Says = "not decided, never steady: " + why
		return c
	}
	if r := c.CPUPerRequest; r.Known() && c.Verdict != compare.Uncosted {
		c.Verdict = r.Judge(o.Margin)
		if o.FailAbove > 0 {
			c.Above = r.Against(o.FailAbove)
		}
	}
	switch {
	case c.Verdict == compare.Uncosted:
		c.Says = "no CPU figures of servers that only an address is given of, so nothing is said of cost; "
		if least, _ := a.stay.Ratios(i, 0, throughput); len(least) == 0 {
			c.Says += a.refusals(i)
		} else {
			c.Says += "throughput and latency follow, and what bounded them on the servers' side is not known"
		}
		if !c.Settled(o.Margin) {
			c.FurtherS = a.further(i, throughput)
		}
	case c.Verdict == compare.Undecided:
		c.FurtherS = a.further(i, cost)
		c.Says = c.NotDecided(o.Margin, a.level, a.refusals(i))
	default:
		c.Says = c.Sentence(o.Margin)
		if c.Above == compare.AboveOpen {
			c.FurtherS = a.further(i, cost)
			c.Says += fmt.Sprintf("; whether that is above %v is not decided%s", o.FailAbove, c.More())
		}
	}
	return c
}

// never says of a server that was never steady how its cost went on; empty if it was, and where
// its warm-up was given.
func (a *assessment) never(i int) string {
	why := cmp.Or(a.look(i).Never, a.changes(i))
	if !a.o.Steady || why == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s; a larger --budget looks on for longer, and --warmup takes it as it is then",
		a.o.Servers[i].Name, why)
}

// changes says how a server's CPU a request went the same way in block after block, from one half
// of its slots to the other; empty if it did not.
func (a *assessment) changes(i int) string {
	var ratios []float64
	for _, t := range a.f.Trials {
		if t.Condition != a.condition(i) || !t.Valid || t.Slots == nil {
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
	r := compare.Over(ratios, ratios, stats.Alpha)
	switch {
	case !r.Known():
	case r.Low > 1+drift:
		return fmt.Sprintf("from one half of a block to the other its CPU a request rose to × %.3f", r.Ratio)
	case r.High < 1/(1+drift):
		return fmt.Sprintf("from one half of a block to the other its CPU a request fell to × %.3f", r.Ratio)
	}
	return ""
}

// starts are what to know of how the servers started.
func (a *assessment) starts() (notes []string) {
	for i, s := range a.o.Servers {
		switch why := a.changes(i); {
		case !a.o.Steady && why != "":
			notes = append(notes, fmt.Sprintf("%s was still warming up: %s; give it a longer --warmup", s.Name, why))
		case a.look(i).Warmup > lookSlot && a.o.Steady:
			notes = append(notes, fmt.Sprintf("%s was loaded for %.1f s after each start before anything counted: so long "+
				"it took until its CPU a request was steady", s.Name, a.look(i).Warmup.Seconds()))
		}
	}
	if a.o.Running() && a.o.Costed() {
		notes = append(notes, "the servers ran already and were not started afresh for each block, so what differs "+
			"between two starts of one build stays hidden")
	}
	return notes
}

// ownWork is a server's ratio of cost without the client's part, and those parts;
// empty where they were not gauged.
func ownWork(i int, r *verdict.Relative) string {
	if r == nil {
		return ""
	}
	rows := map[string]verdict.RelativeRow{}
	for _, row := range r.Rows {
		rows[row.Level] = row
	}
	base, other := rows[serverID(0)], rows[serverID(i)]
	if other.OwnText == "" {
		return ""
	}
	return fmt.Sprintf("× %s without the client's part, which is %s of the CPU time against %s",
		other.OwnText, other.ClientText, base.ClientText)
}

// failing reports whether the run ended because it failed again and again.
func (a *assessment) failing() bool { return a.f.Provenance.Ended == results.Failing }

// refusals says why so many blocks have no two valid trials, by the first reason
// of the gate that closed most.
func (a *assessment) refusals(i int) string {
	count, first := map[string]int{}, map[string]string{}
	one, other := a.stay.Conditions[0], a.stay.Conditions[i]
	invalid, all := one.Invalid+other.Invalid, one.Trials+other.Trials
	name := map[string]string{one.ID: a.o.Servers[0].Name, other.ID: a.o.Servers[i].Name}
	for _, t := range a.f.Trials {
		if name[t.Condition] == "" || t.Valid {
			continue
		}
		for _, r := range t.Reasons {
			if count[r.Gate]++; count[r.Gate] == 1 {
				first[r.Gate] = fmt.Sprintf("%s: %s", name[t.Condition], a.o.Named(r.Detail))
			}
		}
	}
	gates := slices.Sorted(maps.Keys(count))
	if len(gates) == 0 {
		return fmt.Sprintf("%d of %d trials are missing", invalid, all)
	}
	most := slices.MaxFunc(gates, func(a, b string) int { return count[a] - count[b] })
	says := fmt.Sprintf("gates refused %d of %d trials, most of them for %s (%s)", invalid, all, most, first[most])
	return says
}

// ofServer are the gates that close when a server fails its load.
var ofServer = []string{gate.ServerExited, gate.Non2xx, gate.Mismatches, gate.WrongAnswer, gate.Resets, gate.NoRequests,
	gate.Timeouts, gate.Errors, gate.LostWorker}

// failures say in how many trials of each server one failed. Other gates may have refused more of
// them, but that a server fails is news to those who run it.
func (a *assessment) failures() (notes []string) {
	for i, s := range a.o.Servers {
		failed, first := 0, ""
		for _, t := range a.f.Trials {
			r, is := strict.First(t.Reasons, func(r results.Reason) bool { return slices.Contains(ofServer, r.Gate) })
			if is && t.Condition == a.condition(i) {
				failed++
				first = cmp.Or(first, a.o.Named(r.Detail))
			}
		}
		if failed > 0 {
			notes = append(notes, fmt.Sprintf("a server failed in %d of %d trials of %s, and nothing of these counts: %s",
				failed, a.stay.Conditions[i].Trials, s.Name, first))
		}
	}
	return notes
}

// further estimates the seconds until a metric's ratio is decided, if its blocks
// go on as before; 0 if unknown.
func (a *assessment) further(i int, metric string) float64 {
	least, most := a.stay.Ratios(i, 0, metric)
	if len(least) == 0 || a.f.Provenance.Blocks == 0 || a.failing() {
		return 0
	}
	blocks := compare.Further(least, most, a.level, a.o.Margin, a.o.FailAbove)
	if metric == cost {
		blocks = a.costs(i).Further(a.level, a.o.Margin, a.o.FailAbove)
	}
	return math.Ceil(float64(blocks) * a.took / float64(a.f.Provenance.Blocks))
}
