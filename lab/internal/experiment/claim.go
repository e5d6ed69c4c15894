package experiment

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
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
	Count     Kind = "count"     // a count equals a number, a level, or a level plus a number
	Value     Kind = "value"     // a metric is at least, or at most, a bar
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
	Plus    *int64   `toml:"plus"`     // count: added to that level, or the number itself
	About   string   `toml:"about"`    // empty, or AboutClient
	Needs   Needs    `toml:"needs"`
	Profile string   `toml:"profile"` // share, absent
	Package string   `toml:"package"` // share, absent; symbols change their names between versions
	Work    string   `toml:"work"`    // share

	// Levels has an order of its own, so that a factor of many words, which have none, can
	// hold claims about some of them.
	Levels []any `toml:"levels"` // flat, ratio (two), monotonic
	levels []setting.Level
	At     map[string]any `toml:"at"`
	at     setting.Levels
}

// More is the number that a count is more than a setting's level, or without a setting the count.
func (c Claim) More() int64 {
	if c.Plus == nil {
		return 0
	}
	return *c.Plus
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

// A form is what one kind of claim says, which of the fields in kindFields it takes, and
// what it asks of them beyond what all kinds ask. No other of these fields may be given, so
// that none is ignored. A kind is a row of kinds.toml and a type in verdict.
type form struct {
	Kind          Kind
	Meaning       string
	Requires, May []string
	Either        [][2]string // one of each two
}

//go:embed kinds.toml
var text []byte

// kinds are those of claims and of topologies, and what a server's keys mean.
var kinds = strict.Embedded[struct {
	Forms      []form
	Topologies []strict.Word
	Server     map[string]string // meanings of a server's keys
}](text)

// asks has what some kinds ask of a claim that has the fields of its kind.
var asks = map[Kind]func(c *Claim) error{Ratio: (*Claim).checkRatio, Bound: (*Claim).checkBound,
	Moves: (*Claim).checkMoves, Count: (*Claim).checkCount, Share: (*Claim).checkProfile, Absent: (*Claim).checkProfile}

// kindFields are the fields that some kinds take and others do not.
var kindFields = []string{"metric", "over", "levels", "margin", "bound", "from", "to", "equals", "plus", "profile",
	"package", "work", "at_least", "at_most"}

// given says which of kindFields a claim has.
func (c *Claim) given() map[string]bool {
	return map[string]bool{"metric": c.Metric != "", "over": c.Over != "", "levels": c.Levels != nil,
		"margin": c.Margin != nil, "bound": c.Bound != "", "from": c.From != "", "to": c.To != "", "equals": c.Equals != "",
		"plus": c.Plus != nil, "profile": c.Profile != "", "package": c.Package != "", "work": c.Work != "",
		"at_least": c.AtLeast != nil, "at_most": c.AtMost != nil}
}

// words lists what the form takes.
func (f form) words() string {
	either := strict.Map(f.Either, func(two [2]string) string { return two[0] + " or " + two[1] })
	may := strict.Map(f.May, func(name string) string { return "perhaps " + name })
	return strings.Join(slices.Concat(f.Requires, either, may), ", ")
}

// fits reports a field that the form takes and the claim lacks, or the other way round. Of
// each two, the first stands for either.
func (f form) fits(c *Claim) error {
	given := c.given()
	for _, two := range f.Either {
		if given[two[0]] && given[two[1]] {
			return fmt.Errorf("%s and %s exclude each other", two[0], two[1])
		}
		given[two[0]], given[two[1]] = given[two[0]] || given[two[1]], false
	}
	for _, name := range kindFields {
		wants := slices.Contains(f.Requires, name) ||
			slices.ContainsFunc(f.Either, func(two [2]string) bool { return two[0] == name })
		switch {
		case wants && !given[name]:
			return fmt.Errorf("kind %q lacks %s; it takes %s", f.Kind, name, f.words())
		case given[name] && !wants && !slices.Contains(f.May, name):
			return fmt.Errorf("kind %q does not take %s; it takes %s", f.Kind, name, f.words())
		}
	}
	return nil
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
	if c.Needs.Bound != "" && !isWall(c.Needs.Bound) {
		return fmt.Errorf("needs.bound %q: no such wall; %s", c.Needs.Bound, strict.Instead(c.Needs.Bound, gate.WallNames()))
	}
	i := slices.IndexFunc(kinds.Forms, func(f form) bool { return f.Kind == c.Kind })
	if i < 0 {
		return fmt.Errorf("unknown kind %q; %s", c.Kind, strict.InsteadOf(string(c.Kind), Claims()))
	}
	of := kinds.Forms[i]
	if err := of.fits(c); err != nil {
		return err
	}
	_, measured := metric.Lookup(c.Metric)
	switch {
	case c.Metric != "" && !measured:
		return fmt.Errorf("unknown metric %q; %s", c.Metric, strict.Instead(c.Metric, metric.Names()))
	case c.Over != "" && !factors[c.Over]:
		return fmt.Errorf("over %q: no factor of that name; %s", c.Over,
			strict.Instead(c.Over, slices.Sorted(maps.Keys(factors))))
	case c.Levels != nil && len(c.Levels) < 2:
		return errors.New("levels: name two or more, or leave them out to compare all")
	case c.Margin != nil && (!(*c.Margin >= 0 && *c.Margin < 10) || *c.Margin == 0 && c.Kind != Monotonic):
		return errors.New("margin must be above 0 (monotonic: 0 or more) and below 10")
	case c.AtLeast != nil && !bar(*c.AtLeast), c.AtMost != nil && !bar(*c.AtMost):
		return errors.New("a bar must be a number above 0")
	case asks[c.Kind] != nil:
		return asks[c.Kind](c)
	}
	return nil
}

func (c *Claim) checkRatio() error {
	if n := len(c.Levels); n != 0 && n != 2 {
		return fmt.Errorf("levels: a ratio is of two, the second over the first; there are %d", n)
	}
	return nil
}

func (c *Claim) checkBound() error {
	if !isWall(c.Bound) {
		return fmt.Errorf("bound %q: no such wall; %s", c.Bound, strict.Instead(c.Bound, gate.WallNames()))
	}
	return nil
}

func (c *Claim) checkMoves() error {
	wire := string(gate.BoundWire)
	switch {
	case *c.Margin >= 1:
		return errors.New("margin is a share of what a wall can carry, and must be below 1")
	case !isWall(c.From) || !isWall(c.To) || c.From == c.To:
		return fmt.Errorf("from %q and to %q: use two of wire, client-cpu and server-cpu", c.From, c.To)
	case (c.From == wire || c.To == wire) && !c.Needs.LineRate:
		return errors.New("a wall moves from or to a wire only where its line rate is known: needs.line_rate = true")
	case c.Needs.Bound != "":
		return errors.New("needs.bound is one wall of all trials, and moves names two; leave it out")
	}
	return nil
}

func (c *Claim) checkCount() error {
	if c.Equals == "" && c.Plus == nil {
		return fmt.Errorf("kind %q lacks what the count equals: a setting in equals, a number in plus, or both", c.Kind)
	}
	if c.Equals != "" && setting.Check(c.Equals, setting.Int(1)) != nil {
		return fmt.Errorf("equals %q: no such numeric setting; %s", c.Equals, strict.Instead(c.Equals, setting.Numeric()))
	}
	return nil
}

func isWall(name string) bool { return slices.Contains(gate.WallNames(), name) }

// checkProfile refuses what no profile can show.
func (c *Claim) checkProfile() error {
	if !slices.Contains(profile.Kinds(), profile.Kind(c.Profile)) {
		return fmt.Errorf("profile %q: no such kind of profile; %s", c.Profile, strict.InsteadOf(c.Profile, Profiles()))
	}
	switch {
	case c.Work != "" && !slices.ContainsFunc(Works(), func(w strict.Word) bool { return w.Name == c.Work }):
		return fmt.Errorf("work %q: no such kind of work; %s", c.Work, strict.InsteadOf(c.Work, Works()))
	case c.Package != "" && profile.PackageOf(c.Package+".F") != c.Package:
		return fmt.Errorf("package %q: profiles count it as %q", c.Package, profile.PackageOf(c.Package+".F"))
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
		l, err := setting.ParseLevel(c.At[name])
		if err != nil {
			return fmt.Errorf("at.%s: %w", name, err)
		}
		i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == name })
		switch {
		case i < 0:
			return fmt.Errorf("at.%s: no factor of that name; %s", name, strict.Instead(name, strict.Map(factors, factorName)))
		case name == c.Over:
			return fmt.Errorf("at.%s: the claim compares its levels", name)
		case !slices.Contains(factors[i].levels, l):
			return fmt.Errorf("at.%s: %s is none of its levels; %s", name, l,
				strict.Instead(l.String(), strict.Map(factors[i].levels, setting.Level.String)))
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
		l, err := setting.ParseLevel(v)
		switch {
		case err != nil:
			return fmt.Errorf("levels[%d]: %w", n, err)
		case !slices.Contains(factors[i].levels, l):
			return fmt.Errorf("levels[%d]: %s is no level of %s; %s", n, l, c.Over,
				strict.Instead(l.String(), strict.Map(factors[i].levels, setting.Level.String)))
		case slices.Contains(c.levels, l):
			return fmt.Errorf("levels[%d]: %s stands twice", n, l)
		}
		c.levels = append(c.levels, l)
	}
	return nil
}

func bar(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// A Relative asks for a table: a metric at each level of a factor, over the
// same metric at one of them.
type Relative struct {
	Metric string `toml:"metric"`
	Over   string `toml:"over"`
	To     any    `toml:"to"`
	// OwnWork asks for the same ratios without the client's work on the server's
	// core, which is gauged once a run.
	OwnWork bool `toml:"own_work"`

	to setting.Level
}

// Level is the level that all others are relative to.
func (r *Relative) Level() setting.Level { return r.to }

func (r *Relative) resolve(factors []Factor) (err error) {
	if r == nil {
		return nil
	}
	if _, ok := metric.Lookup(r.Metric); !ok {
		return fmt.Errorf("unknown metric %q; %s", r.Metric, strict.Instead(r.Metric, metric.Names()))
	}
	if r.OwnWork && r.Metric != "server_cpu_per_request_s" {
		return fmt.Errorf("own_work: the client has no part in %s; the metric is server_cpu_per_request_s, or leave "+
			"own_work out", r.Metric)
	}
	i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == r.Over })
	switch {
	case i < 0:
		return fmt.Errorf("over %q: no factor of that name; %s", r.Over,
			strict.Instead(r.Over, strict.Map(factors, factorName)))
	case r.To == nil:
		return errors.New("to is missing: name the level that the others are relative to")
	}
	if r.to, err = setting.ParseLevel(r.To); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if !slices.Contains(factors[i].levels, r.to) {
		return fmt.Errorf("to: %s is no level of %s; %s", r.to, r.Over,
			strict.Instead(r.to.String(), strict.Map(factors[i].levels, setting.Level.String)))
	}
	return nil
}
