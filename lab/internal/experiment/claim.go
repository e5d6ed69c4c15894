package experiment

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Kind is a form of claim.
type Kind string

// The kinds of claim that experiments use.
const (
	Flat      Kind = "flat"      // ratios between levels stay within 1/(1+margin) and 1+margin
	Ratio     Kind = "ratio"     // last level over first is at least, or at most, a bar
	Monotonic Kind = "monotonic" // no step falls by more than the margin, and the last level is above the first
	Bound     Kind = "bound"     // every trial is bounded by the named wall
	Moves     Kind = "moves"     // the wall is one at the factor's first level, and another at its last
	Count     Kind = "count"     // a count equals a level, or a level plus one
	Share     Kind = "share"     // a package, or a kind of work, has at least or at most this share of a profile
	Absent    Kind = "absent"    // a profile has no sample of a package
)

// AboutClient marks a claim about the load generator.
const AboutClient = "client"

// A Claim is a statement about the experiment's metrics that a run can decide.
type Claim struct {
	ID      string   `toml:"id"`
	Kind    Kind     `toml:"kind"`
	Text    string   `toml:"text"`
	Why     string   `toml:"why"` // the reason for the margin or the bar
	Metric  string   `toml:"metric"`
	Over    string   `toml:"over"`     // factor whose levels are compared
	Margin  *float64 `toml:"margin"`   // flat, monotonic; moves: the least change of both walls' use
	AtLeast *float64 `toml:"at_least"` // ratio: last level over first
	AtMost  *float64 `toml:"at_most"`  // ratio: last level over first
	Bound   string   `toml:"bound"`    // bound
	From    string   `toml:"from"`     // moves: the wall at the first level
	To      string   `toml:"to"`       // moves: the wall at the last level
	Equals  string   `toml:"equals"`   // count: the setting whose level it equals
	Plus    int64    `toml:"plus"`     // count: added to that level
	// About is "client" for a claim about the load generator itself, which then
	// may be the wall. It is empty for a claim about the server.
	About string `toml:"about"`
	Needs Needs  `toml:"needs"`
	// Profile is a kind of profile, and Package or Work what to look for in it.
	// Packages are used because symbols change their names between versions.
	Profile string `toml:"profile"` // share, absent
	Package string `toml:"package"` // share, absent
	Work    string `toml:"work"`    // share

	// Levels are the levels of Over that the claim compares, in its own order, so
	// that a factor of many words, which have no order, can hold claims about some
	// of them; without it all are compared, in the factor's order.
	Levels []any `toml:"levels"` // flat, ratio (two), monotonic
	levels []setting.Level

	// At limits the claim to the conditions with these levels; without it the
	// claim is about all conditions.
	At map[string]any `toml:"at"`
	at setting.Levels
}

// Where returns the levels that the claim is limited to.
func (c Claim) Where() setting.Levels { return c.at }

// Compared returns the levels of Over that the claim is limited to, in the order
// in which it compares them; nil if it compares all.
func (c Claim) Compared() []setting.Level { return c.levels }

// Covers tells whether the claim is about a condition with these levels, all of
// the design's settings among them.
func (c Claim) Covers(whole setting.Levels) bool {
	if whole.With(c.at).Key() != whole.Key() {
		return false
	}
	return len(c.levels) == 0 || slices.Contains(c.levels, whole[c.Over])
}

// Needs are a claim's preconditions. If one is unmet, the claim is not
// applicable to the run: a machine that could not have shown it never refutes
// it.
type Needs struct {
	Bound    string `toml:"bound"`     // every trial is bounded by this wall
	LineRate bool   `toml:"line_rate"` // the topology has a line rate
	Cores    int    `toml:"cores"`     // logical CPUs of the server's host; see CoresFor
}

// The fields that some kinds take and others do not. Each kind has its own and
// allows no others, so that no field is ignored.
type fields struct{ metric, margin, bar, bound, walls, equals, over, profile bool }

var takes = map[Kind]fields{
	Flat: {metric: true, margin: true, over: true}, Monotonic: {metric: true, margin: true, over: true},
	Ratio: {metric: true, bar: true, over: true}, Bound: {bound: true}, Moves: {walls: true, margin: true, over: true},
	Count: {metric: true, equals: true},
	Share: {profile: true, bar: true}, Absent: {profile: true},
}

func (c *Claim) check(factors map[string]bool) error {
	if !name.MatchString(c.ID) {
		return errors.New("id must be lower-case words joined by hyphens")
	}
	if c.Text == "" {
		return errors.New("text is missing")
	}
	if strings.TrimSpace(c.Why) == "" {
		return errors.New("why is missing: give the reason for the margin or the bar, before the first run")
	}
	if c.About != "" && c.About != AboutClient {
		return fmt.Errorf("about %q: use client, or leave it out for a claim about the server", c.About)
	}
	if m, _ := metric.Lookup(c.Metric); c.About != "" && !m.MeasuresClient {
		return fmt.Errorf("about: %q is not what a client achieves, so the wall makes no difference to it; leave about out",
			c.Metric)
	}
	for _, said := range []struct{ field, v string }{{"text", c.Text}, {"why", c.Why}} {
		if err := strict.CheckLine(said.v); err != nil {
			return fmt.Errorf("%s %w", said.field, err)
		}
	}
	if c.Needs.Cores < 0 {
		return fmt.Errorf("needs.cores = %d: give the least number of logical CPUs, or leave it out", c.Needs.Cores)
	}
	known := func(b string) bool { return slices.Contains(gate.WallNames(), b) }
	if c.Needs.Bound != "" && !known(c.Needs.Bound) {
		return fmt.Errorf("needs.bound %q: no such wall; %s", c.Needs.Bound, strict.Instead(c.Needs.Bound, gate.WallNames()))
	}
	if c.Kind != Bound && c.Kind != Moves && c.Kind != Share && c.Kind != Absent {
		if _, ok := metric.Lookup(c.Metric); !ok {
			return fmt.Errorf("unknown metric %q; %s", c.Metric, strict.Instead(c.Metric, metric.Names()))
		}
	}
	if (c.Kind == Flat || c.Kind == Ratio || c.Kind == Monotonic || c.Kind == Moves) && !factors[c.Over] {
		return fmt.Errorf("over %q: no factor of that name; %s", c.Over,
			strict.Instead(c.Over, slices.Sorted(maps.Keys(factors))))
	}
	want, ok := takes[c.Kind]
	if !ok {
		return fmt.Errorf("unknown kind %q; %s", c.Kind, strict.Instead(string(c.Kind), kindNames()))
	}
	has := fields{c.Metric != "", c.Margin != nil, c.AtLeast != nil || c.AtMost != nil, c.Bound != "", c.From != "" &&
		c.To != "", c.Equals != "", c.Over != "", c.Profile != "" || c.Package != "" || c.Work != ""}
	if has != want || c.Plus != 0 && c.Kind != Count || (c.From != "" || c.To != "") && c.Kind != Moves {
		return fmt.Errorf("kind %q does not take these fields (flat and monotonic: over, margin; ratio: over and one of "+
			"at_least, at_most; bound: bound and no metric; moves: over, from, to, margin; count: equals, plus; share: "+
			"profile, package or work, and one of at_least, at_most; absent: profile, package)", c.Kind)
	}
	if want.profile {
		if err := c.checkProfile(); err != nil {
			return err
		}
	}
	switch some := c.Levels != nil; {
	case some && c.Kind != Flat && c.Kind != Ratio && c.Kind != Monotonic:
		return fmt.Errorf("levels: kind %q compares none; they are for flat, ratio and monotonic", c.Kind)
	case some && c.Kind == Ratio && len(c.Levels) != 2:
		return fmt.Errorf("levels: a ratio is of two, the second over the first; there are %d", len(c.Levels))
	case some && len(c.Levels) < 2:
		return errors.New("levels: name two or more, or leave them out to compare all")
	case c.Margin != nil && !(*c.Margin >= 0 && *c.Margin < 10), (c.Kind == Flat || c.Kind == Moves) && *c.Margin == 0:
		return errors.New("margin must be above 0 (monotonic: 0 or more) and below 10")
	case c.Kind == Moves && *c.Margin >= 1:
		return errors.New("margin is a share of what a wall can carry, and must be below 1")
	case c.Kind == Moves && (!known(c.From) || !known(c.To) || c.From == c.To):
		return fmt.Errorf("from %q and to %q: use two of wire, client-cpu and server-cpu", c.From, c.To)
	case c.Kind == Moves && (c.From == string(gate.BoundWire) || c.To == string(gate.BoundWire)) && !c.Needs.LineRate:
		return errors.New("a wall moves from or to a wire only where its line rate is known: needs.line_rate = true")
	case c.Kind == Moves && c.Needs.Bound != "":
		return errors.New("needs.bound is one wall of all trials, and moves names two; leave it out")
	case c.AtLeast != nil && c.AtMost != nil:
		return errors.New("at_least and at_most exclude each other")
	case c.AtLeast != nil && !bar(*c.AtLeast), c.AtMost != nil && !bar(*c.AtMost):
		return errors.New("a ratio's bar, as a share's, must be a number above 0")
	case c.Kind == Bound && !known(c.Bound):
		return fmt.Errorf("bound %q: no such wall; %s", c.Bound, strict.Instead(c.Bound, gate.WallNames()))
	case c.Kind == Count && setting.Check(c.Equals, setting.Int(1)) != nil:
		return fmt.Errorf("equals %q: no such numeric setting; %s", c.Equals, strict.Instead(c.Equals, setting.Numeric()))
	}
	return nil
}

// checkProfile refuses what no profile can show.
func (c *Claim) checkProfile() error {
	if !slices.Contains(profiles.Kinds(), profiles.Kind(c.Profile)) {
		return fmt.Errorf("profile %q: no such kind of profile; %s", c.Profile, strict.Instead(c.Profile, profiles.Names()))
	}
	switch {
	case (c.Package == "") == (c.Work == ""):
		return errors.New("say either package or work")
	case c.Kind == Absent && c.Work != "":
		return errors.New("absent is about a package: a kind of work covers too much to be gone")
	case c.Work != "" && !profiles.IsWork(c.Work):
		return fmt.Errorf("work %q: no such kind of work; %s", c.Work, strict.Instead(c.Work, profiles.WorkNames()))
	case c.Package != "" && profiles.PackageOf(c.Package+".F") != c.Package:
		return fmt.Errorf("package %q: profiles count it as %q", c.Package, profiles.PackageOf(c.Package+".F"))
	case c.AtLeast != nil && *c.AtLeast > 1, c.AtMost != nil && *c.AtMost >= 1:
		return errors.New("a share's bar lies between 0 and 1")
	}
	return nil
}

// resolve parses the levels in At and in Levels. Each must be one of the
// design's.
func (c *Claim) resolve(factors []Factor) error {
	if err := c.resolveCompared(factors); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.At)) {
		l, err := setting.Of(c.At[name])
		if err != nil {
			return fmt.Errorf("at.%s: %w", name, err)
		}
		i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == name })
		switch {
		case i < 0:
			return fmt.Errorf("at.%s: no factor of that name; %s", name, strict.Instead(name, factorNames(factors)))
		case name == c.Over:
			return fmt.Errorf("at.%s: the claim compares its levels", name)
		case !slices.Contains(factors[i].levels, l):
			return fmt.Errorf("at.%s: %s is none of its levels; %s", name, l,
				strict.Instead(l.String(), levelNames(factors[i].levels)))
		}
		if c.at == nil {
			c.at = setting.Levels{}
		}
		c.at[name] = l
	}
	return nil
}

func (c *Claim) resolveCompared(factors []Factor) error {
	i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == c.Over })
	for n, v := range c.Levels {
		l, err := setting.Of(v)
		switch {
		case err != nil:
			return fmt.Errorf("levels[%d]: %w", n, err)
		case !slices.Contains(factors[i].levels, l):
			return fmt.Errorf("levels[%d]: %s is no level of %s; %s", n, l, c.Over,
				strict.Instead(l.String(), levelNames(factors[i].levels)))
		case slices.Contains(c.levels, l):
			return fmt.Errorf("levels[%d]: %s stands twice", n, l)
		}
		c.levels = append(c.levels, l)
	}
	return nil
}

// Ends gives the first and the last level of the factor that a claim compares.
func (c Claim) Ends(x *Experiment) (first, last setting.Level) {
	for _, f := range x.Factors {
		if f.Name == c.Over {
			return f.Ends()
		}
	}
	return first, last
}

func bar(v float64) bool { return v > 0 && !math.IsInf(v, 0) }
