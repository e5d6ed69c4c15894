package verdict

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stats"
)

// A Diff compares two records, A and B, of one experiment or of two, condition by
// condition. It decides nothing.
type Diff struct {
	A          Compared   `json:"a"`
	B          Compared   `json:"b"`
	Designs    []string   `json:"designs,omitempty"` // what the designs do not share
	Conditions []Matched  `json:"conditions"`        // those that both have, in A's order
	OnlyA      []string   `json:"only_a,omitempty"`  // conditions that B does not have
	OnlyB      []string   `json:"only_b,omitempty"`
	Metrics    []NamedFor `json:"metrics"`
}

// Compared is one side of a Diff: the runs of one design on one host. Trials are those
// of its conditions, without the A/A control's.
type Compared struct {
	Experiment string   `json:"experiment"`
	Host       string   `json:"host"`
	ClientHost string   `json:"client_host"`
	Fleet      []string `json:"fleet,omitempty"` // the hosts of a fleet's clients
	Runs       []string `json:"runs"`
	Trials     int      `json:"trials"`
	Invalid    int      `json:"invalid"`       // trials that are left out
	Why        string   `json:"why,omitempty"` // gates of the invalid trials, counted
}

// NamedFor is a metric of a Diff.
type NamedFor struct {
	Name  string `json:"name"`
	Label string `json:"label"`
	Unit  string `json:"unit"`
}

// A Matched is a condition that both sides have.
type Matched struct {
	Name     string         `json:"name"`
	Settings setting.Levels `json:"settings"` // all of them, fixed ones included
	// WallA and WallB say that in most trials the client was full and the server was
	// not: what the client achieved is then a figure of the client.
	WallA  bool    `json:"client_wall_a,omitempty"`
	WallB  bool    `json:"client_wall_b,omitempty"`
	Ratios []Ratio `json:"ratios"`
}

// A Ratio is a metric of B over the same of A. Fields that cannot be known are absent.
type Ratio struct {
	Metric  string  `json:"metric"`
	BlocksA int     `json:"blocks_a"` // those with a valid trial that has the metric
	BlocksB int     `json:"blocks_b"`
	A       Figure  `json:"a"`
	B       Figure  `json:"b"`
	Ratio   float64 `json:"ratio,omitempty"` // of the medians
	// RatioLow and RatioHigh replace Ratio where figures are coarse, as in Effect.
	RatioLow  float64 `json:"ratio_low,omitempty"`
	RatioHigh float64 `json:"ratio_high,omitempty"`
	Low       float64 `json:"low,omitempty"` // the interval; without High it has no upper end
	High      float64 `json:"high,omitempty"`
	Words             // of the ratio
	// Differs says that the interval lies on one side of 1. Otherwise Unseen is the
	// smallest change that would have been seen, as a share: it is how far the interval
	// reaches from the ratio.
	Differs bool    `json:"differs,omitempty"`
	Unseen  float64 `json:"unseen,omitempty"`
	Says    string  `json:"says"`
}

// Compare compares two records. Each is a run with the earlier ones that may belong to
// its record, oldest first, as for Decide; earlier runs of another design are left
// out. A condition is matched by all of its settings and by how client and server were
// joined. Its blocks on the two sides are independent: they are not paired, and an
// invalid trial counts on neither side.
func Compare(a, b []Run, experiments ...*experiment.Experiment) *Diff {
	from, to := newSide(a), newSide(b)
	out := &Diff{A: from.about(), B: to.about(), Designs: unlike(from.last(), to.last()), Conditions: []Matched{}, Metrics: []NamedFor{}}
	joined := wired(from.last().Topology) == wired(to.last().Topology)
	metrics := asked(append(slices.Clone(experiments), from.last().then, to.last().then))
	used := map[string]bool{}
	for _, levels := range from.levels {
		whole := from.whole(levels)
		name := conditionName(from.last().then, levels)
		other, ok := to.has(whole)
		if !ok || !joined {
			out.OnlyA = append(out.OnlyA, name)
			continue
		}
		m := Matched{Name: name, Settings: whole, WallA: from.clientWall(levels), WallB: to.clientWall(other), Ratios: []Ratio{}}
		for _, name := range metrics {
			if r, ok := ratioOf(name, from.readings(levels, name), to.readings(other, name)); ok {
				m.Ratios = append(m.Ratios, r)
				used[name] = true
			}
		}
		out.Conditions = append(out.Conditions, m)
	}
	for _, levels := range to.levels {
		if _, ok := from.has(to.whole(levels)); !ok || !joined {
			out.OnlyB = append(out.OnlyB, conditionName(to.last().then, levels))
		}
	}
	for _, name := range metrics {
		if m, ok := metric.Lookup(name); ok && used[name] {
			out.Metrics = append(out.Metrics, NamedFor{name, m.Label, string(m.Unit)})
		}
	}
	return out
}

// asked lists the metrics of experiments and of their claims.
func asked(xs []*experiment.Experiment) (out []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, x := range xs {
		for _, name := range x.Metrics {
			add(name)
		}
	}
	for _, x := range xs {
		for _, c := range x.Claims {
			add(c.Metric)
		}
	}
	return out
}

// A side is the runs of one record.
type side struct {
	runs   []*source
	levels []setting.Levels // of the newest run
}

func newSide(runs []Run) side {
	s := side{runs: newDecider(Asked(nil), &host.Profile{}, runs).like()}
	for _, c := range s.last().conds {
		s.levels = append(s.levels, c.Levels)
	}
	return s
}

func (s side) last() *source { return s.runs[len(s.runs)-1] }

func (s side) whole(levels setting.Levels) setting.Levels { return s.last().Settings.With(levels) }

// has finds the condition with these settings.
func (s side) has(whole setting.Levels) (setting.Levels, bool) {
	i := slices.IndexFunc(s.levels, func(l setting.Levels) bool { return s.whole(l).Key() == whole.Key() })
	if i < 0 {
		return nil, false
	}
	return s.levels[i], true
}

func (s side) about() Compared {
	r := s.last()
	out := Compared{Experiment: r.Experiment, Host: r.Hosts.Server, ClientHost: r.Hosts.Client, Fleet: r.Hosts.Clients}
	for _, r := range s.runs {
		out.Runs = append(out.Runs, r.Run)
		for _, t := range r.Trials {
			if r.control == nil || t.Condition != r.control.ID {
				out.Trials++
			}
		}
	}
	if invalid := (&record{runs: s.runs}).invalid(); len(invalid) > 0 {
		out.Invalid, out.Why = len(invalid), gates(invalid)
	}
	return out
}

// each visits a condition's valid trials.
func (s side) each(levels setting.Levels, visit func(*source, results.Trial)) {
	(&record{runs: s.runs, conds: []setting.Levels{levels}}).each(visit)
}

func (s side) clientWall(levels setting.Levels) bool {
	bounds := map[string]int{}
	s.each(levels, func(r *source, t results.Trial) { bounds[string(r.walls(t).Bound())]++ })
	return clientFull(bounds)
}

// A sample is a metric of a condition, block by block.
type sample struct {
	ranges []stats.Range
	exact  bool // whether each reading has a nominal figure
	figure Figure
}

func (s side) readings(levels setting.Levels, name string) sample {
	out := sample{exact: true}
	var trials []results.Trial
	s.each(levels, func(r *source, t results.Trial) {
		if got, ok := r.Reading(t, name); ok {
			out.ranges = append(out.ranges, stats.Range{Low: got.Low, High: got.High})
			out.exact = out.exact && got.Nominal != nil
			trials = append(trials, t)
		}
	})
	m, _ := metric.Lookup(name)
	out.figure, _ = figure(name, trials)
	if out.figure.N > 0 && out.figure.Printed == "" {
		out.figure.Words = out.figure.print(string(m.Unit))
	}
	return out
}

// zero tells whether some of the figures are 0, and whether all of them are.
func (s sample) zero() (some, all bool) {
	n := 0
	for _, r := range s.ranges {
		if r.High <= 0 {
			n++
		}
	}
	return n > 0, n == len(s.ranges)
}

// medians are those of the lower and of the upper ends.
func (s sample) medians() (low, high float64) {
	var lows, highs []float64
	for _, r := range s.ranges {
		lows, highs = append(lows, r.Low), append(highs, r.High)
	}
	return stats.Median(lows), stats.Median(highs)
}

// ratioOf compares two samples of a metric; false if neither side has it.
func ratioOf(name string, a, b sample) (Ratio, bool) {
	out := Ratio{Metric: name, BlocksA: len(a.ranges), BlocksB: len(b.ranges), A: a.figure, B: b.figure}
	someA, allA := a.zero()
	someB, allB := b.zero()
	switch {
	case len(a.ranges) == 0 && len(b.ranges) == 0:
		return out, false
	case len(a.ranges) == 0:
		out.Says = "no valid trial of A has it"
		return out, true
	case len(b.ranges) == 0:
		out.Says = "no valid trial of B has it"
		return out, true
	case allA && allB:
		out.Says = "0 in all blocks of both"
		return out, true
	case someA || someB:
		out.Says = "no ratio: it is 0 in some blocks"
		return out, true
	}
	lowA, highA := a.medians()
	lowB, highB := b.medians()
	from, to := lowB/highA, highB/lowA
	e := Effect{Pairs: 1}
	if a.exact && b.exact && to <= (1+fine)*from {
		from = *b.figure.Median / *a.figure.Median
		to, e.Ratio = from, digits(from)
	} else {
		e.RatioLow, e.RatioHigh = digits(from), finite(to)
	}
	low, high, ok := stats.Independent(a.ranges, b.ranges)
	if ok {
		// The ratio of the medians is nearly always inside. Where noise is lopsided it may
		// not be, and a wider interval is not less true.
		low, high = min(low, from), max(high, to)
		e.Low, e.High = digits(low), finite(high)
	}
	out.Ratio, out.RatioLow, out.RatioHigh, out.Low, out.High = e.Ratio, e.RatioLow, e.RatioHigh, e.Low, e.High
	out.Words = Words{e.Text(), e.Interval()}
	switch {
	case !ok:
		out.Says = "too few blocks for an interval"
	case low == 1 && high == 1:
		out.Says = "the same in nearly all blocks"
	case low > 1 || high < 1:
		out.Differs = true
		out.Says = change(e.Ratio)
	default:
		out.Says = "no difference seen"
		if reach := max(to/low, high/from) - 1; !math.IsInf(reach, 1) {
			out.Unseen = digits(reach)
			out.Says += fmt.Sprintf("; one of %s would have been", inPercent(reach))
		}
	}
	return out, true
}

// change says how much more or less a ratio is.
func change(ratio float64) string {
	switch {
	case ratio == 0: // figures are coarse
		return "they differ"
	case ratio > 2:
		return ratioText(ratio, nil, nil) + " times as much"
	case ratio > 1:
		return inPercent(ratio-1) + " more"
	}
	return inPercent(1-ratio) + " less"
}

// inPercent prints a share with two digits.
func inPercent(share float64) string {
	v := 100 * share
	if v > 0 && v < 0.1 {
		return "0.1 %"
	}
	at := 0
	if v < 10 {
		at = -1
	}
	return grouped(v, at) + " %"
}

// unlike lists what two designs do not share, without what is a factor of either.
func unlike(a, b *source) (out []string) {
	add := func(name, x, y string) {
		if x != y {
			out = append(out, fmt.Sprintf("%s %s and %s", name, some(x), some(y)))
		}
	}
	add("experiment", a.Experiment, b.Experiment)
	add("source", string(a.Source), string(b.Source))
	add("topology", wired(a.Topology), wired(b.Topology))
	fixed := maps.Clone(a.Settings)
	maps.Copy(fixed, b.Settings)
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		x, inA := a.Settings[name]
		y, inB := b.Settings[name]
		if a.factor(name) || b.factor(name) {
			continue
		}
		add(factorWords(name), map[bool]string{true: levelWords(x)}[inA], map[bool]string{true: levelWords(y)}[inB])
	}
	p, q := a.Provenance, b.Provenance
	if p == nil || q == nil {
		return out
	}
	add("load generator", p.Generator, q.Generator)
	add("block", plan(p), plan(q))
	return out
}

// factor tells whether a setting is a factor of a run's conditions.
func (s *source) factor(name string) bool {
	return slices.ContainsFunc(s.conds, func(c results.Condition) bool { _, ok := c.Levels[name]; return ok })
}

func some(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

func wired(t results.Topology) string {
	out := []string{t.Kind}
	if t.LineRateBps > 0 {
		out = append(out, figureText(string(metric.BitsPerSecond), t.LineRateBps, nil, nil))
	}
	if t.BurstBytes > 0 {
		out = append(out, fmt.Sprintf("burst %d B", t.BurstBytes))
	}
	if t.QueueS > 0 {
		out = append(out, "queue "+figureText(string(metric.Second), t.QueueS, nil, nil))
	}
	return strings.ReplaceAll(strings.Join(out, " "), unbroken, " ")
}

// plan says how a block's time is laid out.
func plan(p *results.Provenance) string {
	if p.Block == nil {
		return fmt.Sprintf("trials of %v s", p.DurationS)
	}
	return fmt.Sprintf("%d × %v s after %v s", p.Block.Rounds, p.Block.SlotS, p.Block.WarmupS)
}
