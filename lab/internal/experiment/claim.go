package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Kind is a way to write a claim.
type Kind string

// The kinds of claim. Ratios between levels lie in a band. Flat puts it around 1, within a margin. Ratio takes the
// last level, or the second of two, over the first. Monotonic lets no step fall by more than the margin. Values lie in
// a band: of a metric, Value; of a profile's share, Share. Or a resource is the bottleneck of most blocks: Bound.
const (
	Flat      Kind = "flat"
	Ratio     Kind = "ratio"
	Monotonic Kind = "monotonic"
	Value     Kind = "value"
	Share     Kind = "share"
	Bound     Kind = "bound"
)

// A Form is what a claim is about.
type Form int

// The forms of claim: ratios between levels lie in a band, values lie in a band, or a resource is the bottleneck.
const (
	RatioForm Form = iota
	ValueForm
	BottleneckForm
)

// An Owner is whose a claim is.
type Owner string

// The owners: a text that the journal tests, the journal itself, the lab's controls of itself, and checks that a figure
// is what arithmetic makes it, which are no findings.
const (
	Series  Owner = "series"
	Journal Owner = "journal"
	Control Owner = "control"
	Check   Owner = "check"
)

// AboutClient marks a claim about the load generator.
const AboutClient = "client"

// A Claim is a statement about the experiment's metrics that a run can decide.
type Claim struct {
	ID    string `toml:"id" json:"-"`
	Owner Owner  `toml:"owner" json:"-"` // Journal without one
	Text  string `toml:"text" json:"-"`
	Why   string `toml:"why" json:"-"` // the reason for the margin or the bar

	// The rest are the claim's bars, in the order in which its digest has them.
	Kind    Kind           `toml:"kind" json:"kind"`
	Metric  string         `toml:"metric" json:"metric"`
	Over    string         `toml:"over" json:"over"` // factor whose levels are compared
	Margin  *float64       `toml:"margin" json:"margin"`
	AtLeast *float64       `toml:"at_least" json:"at_least"`
	AtMost  *float64       `toml:"at_most" json:"at_most"`
	Bound   string         `toml:"bound" json:"bound"`   // the resource that is the bottleneck
	Equals  string         `toml:"equals" json:"equals"` // the setting whose level a value equals
	Plus    int64          `toml:"plus" json:"plus"`     // added to that level
	Profile string         `toml:"profile" json:"profile"`
	Package string         `toml:"package" json:"package"` // symbols change their names between versions
	Work    string         `toml:"work" json:"work"`
	At      map[string]any `toml:"at" json:"at"` // levels of other factors, to which the claim is limited
	Needs   Needs          `toml:"needs" json:"needs"`
	About   string         `toml:"about" json:"about"` // empty, or AboutClient
	// Levels has an order of its own, so that a factor of many words, which have none, can hold claims about some.
	Levels []any `toml:"levels" json:"levels,omitempty"`

	Where    setting.Levels  `toml:"-" json:"-"` // At, parsed
	Compared []setting.Level `toml:"-" json:"-"` // Levels, parsed, in the order in which the claim compares them
}

// Needs are a claim's preconditions. If one is unmet, the claim is not applicable to the run: a machine that could not
// have shown it never refutes it.
type Needs struct {
	Bound    string `toml:"bound"`     // this wall bounds every trial
	LineRate bool   `toml:"line_rate"` // the topology has a line rate
	Cores    int    `toml:"cores"`     // logical CPUs of the server's host
}

// A Withdrawal says why a claim that runs were judged by is no longer part of the experiment.
type Withdrawal struct {
	ID   string   `toml:"id"`
	IDs  []string `toml:"ids"`  // in place of an id: of several claims, each of which has an entry once it is parsed
	Text string   `toml:"text"` // its words, where no run that counts has them
	Why  string   `toml:"why"`
}

// Form is what the claim is about.
func (c Claim) Form() Form {
	return map[Kind]Form{Value: ValueForm, Share: ValueForm, Bound: BottleneckForm}[c.Kind]
}

// Edges are the bars of a ratio or a value; infinite where there is none.
func (c Claim) Edges() (low, high float64) {
	return *cmp.Or(c.AtLeast, new(math.Inf(-1))), *cmp.Or(c.AtMost, new(math.Inf(1)))
}

// Subject is the package or the kind of work that a claim about a profile is about.
func (c Claim) Subject() string { return cmp.Or(profile.Work(c.Work).Words(), c.Package) }

// Covers tells whether the claim is about a condition with these levels, all of the design's settings among them.
func (c Claim) Covers(whole setting.Levels) bool {
	return c.Where.In(whole) && (len(c.Compared) == 0 || slices.Contains(c.Compared, whole[c.Over]))
}

// takes are the fields that a kind of claim takes of those that not all take: each of these words, one or more of those
// joined by a stroke, and perhaps those in brackets. It takes no other, so that none is ignored.
var takes = map[Kind]string{
	Flat:      "metric over margin [levels]",
	Ratio:     "metric over at_least|at_most [levels]",
	Monotonic: "metric over margin [levels]",
	Value:     "metric at_least|at_most|equals [plus]",
	Share:     "profile package|work at_least|at_most",
	Bound:     "bound",
}

// fits reports a field that the kind takes and the claim lacks, or the other way round.
func (c *Claim) fits() error {
	known := []string{"-", "id", "kind", "owner", "text", "why", "about", "needs", "at"}
	given := map[string]bool{}
	for field, v := range reflect.ValueOf(*c).Fields() {
		given[field.Tag.Get("toml")] = !v.IsZero()
	}
	for _, word := range strings.Fields(takes[c.Kind]) {
		names := strings.Split(strings.Trim(word, "[]"), "|")
		if word[0] != '[' && !slices.ContainsFunc(names, func(name string) bool { return given[name] }) {
			return fmt.Errorf("kind %q lacks %s; it takes %s", c.Kind, strings.Join(names, " or "), takes[c.Kind])
		}
		known = append(known, names...)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] && !slices.Contains(known, name) {
			return fmt.Errorf("kind %q does not take %s; it takes %s", c.Kind, name, takes[c.Kind])
		}
	}
	return nil
}

// checkClaims refuses claims that say nothing, and what was withdrawn without a reason.
func (x *Experiment) checkClaims() error {
	if len(x.Claims) == 0 {
		return errors.New("claims is missing: a design without a claim decides nothing")
	}
	ids := map[string]bool{}
	for i := range x.Claims {
		c := &x.Claims[i]
		if err := x.checkClaim(c); err != nil {
			return fmt.Errorf("claims[%d] %q: %w", i, c.ID, err)
		}
		if ids[c.ID] {
			return fmt.Errorf("claims[%d]: the id %q is there twice", i, c.ID)
		}
		ids[c.ID] = true
	}
	var withdrawn []Withdrawal
	for i, w := range x.Withdrawn {
		for _, id := range append(w.IDs, w.ID) {
			switch {
			case id == "" && len(w.IDs) > 0:
				continue
			case !name.MatchString(id) || strings.TrimSpace(w.Why) == "":
				return fmt.Errorf("withdrawn[%d] %q: give an id, and why: what was wrong with the claim", i, id)
			case ids[id]:
				return fmt.Errorf("withdrawn[%d]: the id %q is there twice; a new claim takes a new id", i, id)
			case strict.CheckLine(w.Text) != nil:
				return fmt.Errorf("withdrawn[%d] %q: give the claim's words in one line", i, id)
			}
			ids[id] = true
			withdrawn = append(withdrawn, Withdrawal{ID: id, Text: w.Text, Why: w.Why})
		}
	}
	x.Withdrawn = withdrawn
	return nil
}

// checkClaim refuses a claim that says nothing or more than one thing, or that the design cannot test.
func (x *Experiment) checkClaim(c *Claim) error {
	c.Owner = cmp.Or(c.Owner, Journal)
	switch m, _ := metric.Lookup(c.Metric); {
	case !name.MatchString(c.ID):
		return errors.New("id must be lower-case words joined by hyphens")
	case c.Text == "":
		return errors.New("text is missing")
	case strings.TrimSpace(c.Why) == "":
		return errors.New("why is missing: give the reason for the margin or the bar, before the first run")
	case c.Kind == "":
		return errors.New("kind is missing")
	case c.About != "" && (c.About != AboutClient || !m.MeasuresClient):
		return fmt.Errorf("about %q: leave it out, or use client where the metric is what a client achieves", c.About)
	case c.Needs.Cores < 0:
		return fmt.Errorf("needs.cores = %d: give the least number of logical CPUs, or leave it out", c.Needs.Cores)
	}
	works := strict.Map(profile.Works(), func(w profile.WorkDoc) profile.Work { return w.Work })
	return cmp.Or(among("owner", c.Owner, []Owner{Series, Journal, Control, Check}),
		among("kind", c.Kind, slices.Sorted(maps.Keys(takes))), line("text", c.Text), line("why", c.Why),
		among("needs.bound", c.Needs.Bound, gate.WallNames()), among("bound", c.Bound, gate.WallNames()), c.fits(),
		among("metric", c.Metric, metric.Names()), among("over", c.Over, strict.Map(x.Factors, factorName)),
		among("profile", profile.Kind(c.Profile), profile.Kinds()), among("work", profile.Work(c.Work), works),
		x.checkBars(c), c.resolve(x.Factors))
}

// checkBars refuses a margin or bars that no figure, or no profile, could tell from others.
func (x *Experiment) checkBars(c *Claim) error {
	low, high := c.Edges()
	bad := func(bar *float64) bool {
		return bar != nil && (!(*bar >= 0) || math.IsInf(*bar, 0) || *bar == 0 && c.Form() == RatioForm)
	}
	numbers := strict.Filter(slices.Sorted(maps.Keys(x.Whole()[0])), func(name string) bool {
		r, _ := setting.Find(name)
		return r.Kind == ""
	})
	switch {
	case c.Levels != nil && len(c.Levels) < 2:
		return errors.New("levels: name two or more, or leave them out to compare all")
	case c.Kind == Ratio && len(c.Levels) > 2:
		return fmt.Errorf("levels: a ratio is of two, the second over the first; there are %d", len(c.Levels))
	case c.Margin != nil && (!(*c.Margin >= 0 && *c.Margin < 10) || *c.Margin == 0 && c.Kind != Monotonic):
		return errors.New("margin must be above 0 (monotonic: 0 or more) and below 10")
	case bad(c.AtLeast), bad(c.AtMost), low > high:
		return errors.New("a bar must be a number of 0 or more, of a ratio above 0, and at_least no more than at_most")
	case c.Plus != 0 && c.Equals == "", c.Equals != "" && (c.AtLeast != nil || c.AtMost != nil):
		return errors.New("equals is the setting whose level the value equals, and plus what is added to it; it takes no " +
			"other bar")
	case c.Kind != Share:
		return among("equals", c.Equals, numbers)
	case x.Profile == nil:
		return errors.New("profile: the experiment takes none; give it a [profile] table")
	case c.Work != "" && c.Package != "":
		return errors.New("package and work exclude each other")
	case c.Package != "" && profile.PackageOf(c.Package+".F") != c.Package:
		return fmt.Errorf("package %q: profiles count it as %q", c.Package, profile.PackageOf(c.Package+".F"))
	case low == 0 || low > 1 || c.AtMost != nil && high >= 1:
		return errors.New("a share's bar lies between 0 and 1")
	}
	return nil
}

// resolve parses the levels in At and in Levels. Each must be one of the design's.
func (c *Claim) resolve(factors []Factor) error {
	for n, v := range c.Levels {
		l, err := levelOf(factors, c.Over, v)
		if err == nil && slices.Contains(c.Compared, l) {
			err = fmt.Errorf("%s is there twice", l)
		}
		if err != nil {
			return fmt.Errorf("levels[%d]: %w", n, err)
		}
		c.Compared = append(c.Compared, l)
	}
	for _, name := range slices.Sorted(maps.Keys(c.At)) {
		l, err := levelOf(factors, name, c.At[name])
		if err == nil && name == c.Over {
			err = errors.New("the claim compares its levels")
		}
		if err != nil {
			return fmt.Errorf("at.%s: %w", name, err)
		}
		c.Where = c.Where.With(setting.Levels{name: l})
	}
	return nil
}

// levelOf parses a level, which must be one of a factor's.
func levelOf(factors []Factor, name string, v any) (setting.Level, error) {
	f, ok := strict.Find(factors, func(f Factor) bool { return f.Name == name })
	if !ok {
		known := strict.Map(factors, factorName)
		return setting.Level{}, fmt.Errorf("no factor of that name; %s", strict.Instead(name, known))
	}
	l, err := setting.ParseLevel(v)
	if err == nil && !slices.Contains(f.All, l) {
		known := strict.Map(f.All, setting.Level.String)
		err = fmt.Errorf("%s is no level of %s; %s", l, name, strict.Instead(l.String(), known))
	}
	return l, err
}
