package experiment

import (
	"cmp"
	_ "embed"
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

// The kinds of claim that experiments use; kinds.toml says what each means.
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
	ID      string   `toml:"id"`
	Kind    Kind     `toml:"kind"`
	Owner   Owner    `toml:"owner"` // Journal without one
	Text    string   `toml:"text"`
	Why     string   `toml:"why"` // the reason for the margin or the bar
	Metric  string   `toml:"metric"`
	Over    string   `toml:"over"` // factor whose levels are compared
	Margin  *float64 `toml:"margin"`
	AtLeast *float64 `toml:"at_least"`
	AtMost  *float64 `toml:"at_most"`
	Equals  string   `toml:"equals"` // the setting whose level a value equals
	Plus    *int64   `toml:"plus"`   // added to that level
	Bound   string   `toml:"bound"`  // the resource that is the bottleneck
	About   string   `toml:"about"`  // empty, or AboutClient
	Needs   Needs    `toml:"needs"`
	Profile string   `toml:"profile"`
	Package string   `toml:"package"` // symbols change their names between versions
	Work    string   `toml:"work"`

	// Levels has an order of its own, so that a factor of many words, which have none, can
	// hold claims about some of them.
	Levels []any `toml:"levels"`
	levels []setting.Level
	At     map[string]any `toml:"at"`
	at     setting.Levels
}

// Form is what the claim is about.
func (c Claim) Form() Form {
	switch c.Kind {
	case Value, Share:
		return ValueForm
	case Bound:
		return BottleneckForm
	}
	return RatioForm
}

// Edges are the bars of a ratio or a value; infinite where there is none.
func (c Claim) Edges() (low, high float64) {
	return *cmp.Or(c.AtLeast, new(math.Inf(-1))), *cmp.Or(c.AtMost, new(math.Inf(1)))
}

// More is what is added to the level that a value equals.
func (c Claim) More() int64 { return *cmp.Or(c.Plus, new(int64)) }

// Absent tells whether the claim says that a package is gone from a profile.
func (c Claim) Absent() bool { return c.Package != "" && c.AtMost != nil && *c.AtMost == 0 }

// Subject is the package or the kind of work that a claim about a profile is about.
func (c Claim) Subject() string { return cmp.Or(profile.Work(c.Work).Words(), c.Package) }

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

// A form is which fields one kind of claim takes, of those that not all take: it requires some and one or more of
// each group, and may have others. No other of these fields may be given, so that none is ignored.
type form struct {
	Kind          Kind
	Meaning       string
	Requires, May []string
	Any           [][]string
}

//go:embed kinds.toml
var text []byte

// kinds are those of claims and of topologies, and what a server's keys mean.
var kinds = strict.Embedded[struct {
	Forms      []form
	Topologies []strict.Word
	Server     map[string]string // meanings of a server's keys
}](text)

// every are the fields that all kinds take.
var every = []string{"", "id", "kind", "owner", "text", "why", "about", "needs", "at"}

// given names the fields that a claim has of those that some kinds take and others do not.
func (c *Claim) given() (names []string) {
	for field, v := range reflect.ValueOf(*c).Fields() {
		if name := field.Tag.Get("toml"); !v.IsZero() && !slices.Contains(every, name) {
			names = append(names, name)
		}
	}
	return names
}

// words lists what the kind takes.
func (f form) words() string {
	any := strict.Map(f.Any, func(group []string) string { return strings.Join(group, " or ") })
	may := strict.Map(f.May, func(name string) string { return "perhaps " + name })
	return strings.Join(slices.Concat(f.Requires, any, may), ", ")
}

// fits reports a field that the kind takes and the claim lacks, or the other way round.
func (f form) fits(c *Claim) error {
	given := c.given()
	each := strict.Map(f.Requires, func(name string) []string { return []string{name} })
	for _, group := range slices.Concat(each, f.Any) {
		if !slices.ContainsFunc(group, func(name string) bool { return slices.Contains(given, name) }) {
			return fmt.Errorf("kind %q lacks %s; it takes %s", f.Kind, strings.Join(group, " or "), f.words())
		}
	}
	takes := slices.Concat(append([][]string{f.Requires, f.May}, f.Any...)...)
	if name, ok := strict.Find(given, func(name string) bool { return !slices.Contains(takes, name) }); ok {
		return fmt.Errorf("kind %q does not take %s; it takes %s", f.Kind, name, f.words())
	}
	return nil
}

// check refuses a claim that says nothing, or more than one thing.
func (c *Claim) check(factors map[string]bool) error {
	i := slices.IndexFunc(kinds.Forms, func(f form) bool { return f.Kind == c.Kind })
	m, measured := metric.Lookup(c.Metric)
	low, high := c.Edges()
	bad := func(bar *float64) bool {
		return bar != nil && (!(*bar >= 0) || math.IsInf(*bar, 0) || *bar == 0 && c.Form() == RatioForm)
	}
	switch {
	case !name.MatchString(c.ID):
		return errors.New("id must be lower-case words joined by hyphens")
	case !slices.Contains([]Owner{Series, Journal, Control, Check}, c.Owner):
		return fmt.Errorf("owner %q: series, journal, control or check", c.Owner)
	case c.Text == "":
		return errors.New("text is missing")
	case strings.TrimSpace(c.Why) == "":
		return errors.New("why is missing: give the reason for the margin or the bar, before the first run")
	case c.About != "" && c.About != AboutClient:
		return fmt.Errorf("about %q: use client, or leave it out for a claim about the server", c.About)
	case c.About != "" && !m.MeasuresClient:
		return fmt.Errorf("about: %q is not what a client achieves, so the bottleneck makes no difference to it; leave "+
			"about out", c.Metric)
	case c.Needs.Cores < 0:
		return fmt.Errorf("needs.cores = %d: give the least number of logical CPUs, or leave it out", c.Needs.Cores)
	case i < 0:
		return fmt.Errorf("unknown kind %q; %s", c.Kind, strict.InsteadOf(string(c.Kind), Claims()))
	}
	for _, said := range []struct{ field, v string }{{"text", c.Text}, {"why", c.Why}} {
		if err := strict.CheckLine(said.v); err != nil {
			return fmt.Errorf("%s %w", said.field, err)
		}
	}
	for _, wall := range []struct{ field, v string }{{"needs.bound", c.Needs.Bound}, {"bound", c.Bound}} {
		if wall.v != "" && !slices.Contains(gate.WallNames(), wall.v) {
			return fmt.Errorf("%s %q: no such wall; %s", wall.field, wall.v, strict.Instead(wall.v, gate.WallNames()))
		}
	}
	if err := kinds.Forms[i].fits(c); err != nil {
		return err
	}
	switch {
	case c.Metric != "" && !measured:
		return fmt.Errorf("unknown metric %q; %s", c.Metric, strict.Instead(c.Metric, metric.Names()))
	case c.Over != "" && !factors[c.Over]:
		return fmt.Errorf("over %q: no factor of that name; %s", c.Over,
			strict.Instead(c.Over, slices.Sorted(maps.Keys(factors))))
	case c.Levels != nil && len(c.Levels) < 2:
		return errors.New("levels: name two or more, or leave them out to compare all")
	case c.Kind == Ratio && len(c.Levels) > 2:
		return fmt.Errorf("levels: a ratio is of two, the second over the first; there are %d", len(c.Levels))
	case c.Margin != nil && (!(*c.Margin >= 0 && *c.Margin < 10) || *c.Margin == 0 && c.Kind != Monotonic):
		return errors.New("margin must be above 0 (monotonic: 0 or more) and below 10")
	case bad(c.AtLeast), bad(c.AtMost), low > high:
		return errors.New("a bar must be a number of 0 or more, of a ratio above 0, and at_least no more than at_most")
	case c.Plus != nil && c.Equals == "" || c.Equals != "" && (c.AtLeast != nil || c.AtMost != nil):
		return errors.New("equals is the setting whose level the value equals, and plus what is added to it; it takes no " +
			"other bar")
	case c.Equals != "" && setting.Check(c.Equals, setting.Int(1)) != nil:
		return fmt.Errorf("equals %q: no such numeric setting; %s", c.Equals, strict.Instead(c.Equals, setting.Numeric()))
	case c.Kind == Share:
		return c.checkProfile()
	}
	return nil
}

// checkProfile refuses what no profile can show.
func (c *Claim) checkProfile() error {
	switch {
	case !slices.Contains(profile.Kinds(), profile.Kind(c.Profile)):
		return fmt.Errorf("profile %q: no such kind of profile; %s", c.Profile, strict.InsteadOf(c.Profile, Profiles()))
	case c.Work != "" && c.Package != "":
		return errors.New("package and work exclude each other")
	case c.Work != "" && !slices.ContainsFunc(Works(), func(w strict.Word) bool { return w.Name == c.Work }):
		return fmt.Errorf("work %q: no such kind of work; %s", c.Work, strict.InsteadOf(c.Work, Works()))
	case c.Package != "" && profile.PackageOf(c.Package+".F") != c.Package:
		return fmt.Errorf("package %q: profiles count it as %q", c.Package, profile.PackageOf(c.Package+".F"))
	case c.AtLeast != nil && (*c.AtLeast <= 0 || *c.AtLeast > 1), c.AtMost != nil && (*c.AtMost < 0 || *c.AtMost >= 1):
		return errors.New("a share's bar lies between 0 and 1")
	}
	return nil
}

// resolve parses the levels in At and in Levels. Each must be one of the
// design's.
func (c *Claim) resolve(factors []Factor) error {
	for n, v := range c.Levels {
		l, err := levelOf(factors, c.Over, v)
		if err == nil && slices.Contains(c.levels, l) {
			err = fmt.Errorf("%s stands twice", l)
		}
		if err != nil {
			return fmt.Errorf("levels[%d]: %w", n, err)
		}
		c.levels = append(c.levels, l)
	}
	for _, name := range slices.Sorted(maps.Keys(c.At)) {
		l, err := levelOf(factors, name, c.At[name])
		if err == nil && name == c.Over {
			err = errors.New("the claim compares its levels")
		}
		if err != nil {
			return fmt.Errorf("at.%s: %w", name, err)
		}
		if c.at == nil {
			c.at = setting.Levels{}
		}
		c.at[name] = l
	}
	return nil
}

// levelOf parses a level, which must be one of a factor's.
func levelOf(factors []Factor, name string, v any) (setting.Level, error) {
	f, ok := strict.Find(factors, func(f Factor) bool { return f.Name == name })
	if !ok {
		return setting.Level{}, fmt.Errorf("no factor of that name; %s", strict.Instead(name, strict.Map(factors, factorName)))
	}
	l, err := setting.ParseLevel(v)
	if err == nil && !slices.Contains(f.levels, l) {
		known := strict.Map(f.levels, setting.Level.String)
		err = fmt.Errorf("%s is no level of %s; %s", l, name, strict.Instead(l.String(), known))
	}
	return l, err
}

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
	names := strict.Map(factors, factorName)
	switch _, known := metric.Lookup(r.Metric); {
	case !known:
		return fmt.Errorf("unknown metric %q; %s", r.Metric, strict.Instead(r.Metric, metric.Names()))
	case r.OwnWork && r.Metric != "server_cpu_per_request_s":
		return fmt.Errorf("own_work: the client has no part in %s; the metric is server_cpu_per_request_s, or leave "+
			"own_work out", r.Metric)
	case !slices.Contains(names, r.Over):
		return fmt.Errorf("over %q: no factor of that name; %s", r.Over, strict.Instead(r.Over, names))
	case r.To == nil:
		return errors.New("to is missing: name the level that the others are relative to")
	}
	if r.to, err = levelOf(factors, r.Over, r.To); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	return nil
}
