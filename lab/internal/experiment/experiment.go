// Package experiment is a declared design: factors and their levels, the load,
// the sizes it can be run at, and the claims it can decide. One TOML file is
// one experiment, and it is written before the run.
//
// Its stance: a file either means exactly one thing or is refused, with its
// line. Unknown keys are errors, because a misspelt margin would otherwise
// decide a claim by a default nobody chose.
package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/event"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/oneline"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/stricttoml"
	"github.com/line-rate/line-rate/lab/internal/symbol"
)

// An Experiment is one file of lab/experiments.
type Experiment struct {
	Name     string `toml:"-"` // the file's name without its ending
	SHA256   string `toml:"-"` // of the file, so that a run says which wording it tested
	Text     []byte `toml:"-"` // the file itself, which a run keeps with the data
	Entry    string `toml:"entry"`
	Title    string `toml:"title"`
	Question string `toml:"question"`
	Core     bool   `toml:"core"` // whether `lab reproduce` without arguments runs it
	// Planned says what the lab lacks to run the design; empty where it lacks
	// nothing. A planned experiment is written like any other, claims first, and
	// published runs are held against it. Only what a trial needs is not asked
	// of it: settings that the lab can set.
	Planned  string          `toml:"planned"`
	Metrics  []string        `toml:"metrics"`
	Topology Topology        `toml:"topology"`
	Settings map[string]any  `toml:"settings"`
	Factors  []Factor        `toml:"factors"`
	Sizes    map[string]Size `toml:"sizes"`
	Claims   []Claim         `toml:"claims"`
	// Withdrawn names the claims that runs were judged by and that no longer
	// stand, so that none can go, or change, unseen.
	Withdrawn []Withdrawal `toml:"withdrawn"`
	// Profile, where it stands, has the server profiled in each trial, in a
	// second window under the same load.
	Profile *Profile `toml:"profile"`

	fixed setting.Levels
}

// Topology says how client and server are joined.
type Topology struct {
	Kind        string  `toml:"kind"` // loopback or netns; fleet, several hosts, where a run has them
	LineRateBps float64 `toml:"line_rate_bps"`
	BurstBytes  int64   `toml:"burst_bytes"`
	QueueS      float64 `toml:"queue_s"`
}

// A Factor is a setting that takes several levels.
type Factor struct {
	Name   string `toml:"name"`
	Levels []any  `toml:"levels"`

	levels []setting.Level
}

// Ends are the first and the last level, which a claim about a ratio compares.
func (f Factor) Ends() (first, last setting.Level) { return f.levels[0], f.levels[len(f.levels)-1] }

// A Profile says what the profiles are for.
type Profile struct {
	Compare string `toml:"compare"` // the factor whose last level is drawn against its first
}

// A Size is how much of the design one run does.
type Size struct {
	Blocks    int     `toml:"blocks"`
	WarmupS   float64 `toml:"warmup_s"`
	DurationS float64 `toml:"duration_s"`
	Repeats   int     `toml:"repeats"` // how many invalid trials a run may repeat
}

// The sizes: smoke is what a reader waits for, full is what decides.
const (
	Smoke = "smoke"
	Full  = "full"
)

// A Kind is a form of claim.
type Kind string

// The kinds of claim that experiments use.
const (
	Flat      Kind = "flat"      // ratios over levels stay within 1/(1+margin) and 1+margin
	Ratio     Kind = "ratio"     // last level over first is at least, or at most, a bar
	Monotonic Kind = "monotonic" // no step falls by more than the margin, and the whole rises
	Bound     Kind = "bound"     // every trial is bounded by the named wall
	Count     Kind = "count"     // a count equals a level, or a level plus one
	Share     Kind = "share"     // a profile gives a package, or a kind of work, at least or at most this share
	Absent    Kind = "absent"    // a profile has no sample of a package
)

// AboutClient marks a claim about the load generator.
const AboutClient = "client"

// A Claim is a statement about the experiment's metrics that a run can decide.
type Claim struct {
	ID      string   `toml:"id"`
	Kind    Kind     `toml:"kind"`
	Text    string   `toml:"text"`
	Why     string   `toml:"why"` // where the margin or the bar comes from
	Metric  string   `toml:"metric"`
	Over    string   `toml:"over"`     // the factor whose levels are compared
	Margin  *float64 `toml:"margin"`   // flat, monotonic
	AtLeast *float64 `toml:"at_least"` // ratio: last level over first
	AtMost  *float64 `toml:"at_most"`  // ratio: last level over first
	Bound   string   `toml:"bound"`    // bound
	Equals  string   `toml:"equals"`   // count: the setting it equals
	Plus    int64    `toml:"plus"`     // count: added to that setting's level
	// About says whose figure the metric is: "client" where the claim is about
	// the load generator itself, which then may be the wall; otherwise empty, and
	// the claim is about the server.
	About string `toml:"about"`
	Needs Needs  `toml:"needs"`
	// Profile is a kind of profile, and Package or Work what is looked for in
	// it: by package, since symbols change their names from version to version.
	Profile string `toml:"profile"` // share, absent
	Package string `toml:"package"` // share, absent
	Work    string `toml:"work"`    // share

	// At keeps the claim to the conditions with these levels; without it, it is
	// about all of them.
	At map[string]any `toml:"at"`
	at setting.Levels
}

// Where returns the levels that the claim is kept to.
func (c Claim) Where() setting.Levels { return c.at }

// Needs are a claim's preconditions. Unmet, the claim is not applicable to the
// run; it is never refuted by a machine that could not have shown it.
type Needs struct {
	Bound    string `toml:"bound"`     // every trial is bounded by this
	LineRate bool   `toml:"line_rate"` // the topology has a line rate
	Cores    int    `toml:"cores"`     // logical CPUs of the server's host; see CoresFor
}

var (
	name  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	entry = regexp.MustCompile(`^[a-z0-9]+$`)
)

// Load reads one experiment. Errors name the file and, where there is one,
// the line.
func Load(path string) (*Experiment, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	x, err := Parse(strings.TrimSuffix(filepath.Base(path), ".toml"), data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// Parse reads an experiment of the given name.
func Parse(id string, data []byte) (*Experiment, error) {
	x := &Experiment{}
	if err := stricttoml.Decode(data, x); err != nil {
		return nil, err
	}
	// An empty reason would pass for none. It is printed in one line.
	var said struct{ Planned *string }
	if err := toml.Unmarshal(data, &said); err != nil {
		return nil, err
	}
	if said.Planned != nil && (strings.TrimSpace(x.Planned) == "" || oneline.Check(x.Planned) != nil) {
		return nil, errors.New("planned: say in one line what the lab lacks to run this, or leave it out")
	}
	sum := sha256.Sum256(data)
	x.Name, x.SHA256, x.Text = id, hex.EncodeToString(sum[:]), data
	if err := x.resolve(); err != nil {
		return nil, err
	}
	return x, nil
}

// resolve checks the whole design and turns raw values into levels.
func (x *Experiment) resolve() error {
	if !name.MatchString(x.Name) {
		return fmt.Errorf("the file's name %q must be lower-case words joined by hyphens", x.Name)
	}
	for _, text := range []struct{ field, v string }{{"entry", x.Entry}, {"title", x.Title}, {"question", x.Question}} {
		if text.v == "" {
			return fmt.Errorf("%s is missing", text.field)
		}
		if err := oneline.Check(text.v); err != nil {
			return fmt.Errorf("%s %w", text.field, err)
		}
	}
	if !entry.MatchString(x.Entry) {
		return fmt.Errorf("entry %q: an entry's number, as 09 or 06b, or a study's word", x.Entry)
	}
	if x.Planned != "" && x.Core {
		return errors.New("core: a planned experiment is in no set that is run")
	}
	if err := x.Topology.check(); err != nil {
		return err
	}
	if len(x.Metrics) == 0 {
		return errors.New("metrics is missing: name what pages are to show")
	}
	for _, m := range x.Metrics {
		if _, ok := metric.Lookup(m); !ok {
			return fmt.Errorf("metrics: unknown metric %q", m)
		}
	}
	x.fixed = setting.Levels{}
	for name, v := range x.Settings {
		l, err := setting.Of(v)
		if err == nil {
			err = x.settable(name, l)
		}
		if err != nil {
			return fmt.Errorf("settings.%s: %w", name, err)
		}
		x.fixed[name] = l
	}
	if len(x.Factors) == 0 {
		return errors.New("factors is missing: an experiment compares something")
	}
	seen := map[string]bool{}
	for i := range x.Factors {
		f := &x.Factors[i]
		if err := f.resolve(x.settable); err != nil {
			return fmt.Errorf("factors[%d]: %w", i, err)
		}
		if _, fixed := x.fixed[f.Name]; fixed || seen[f.Name] {
			return fmt.Errorf("factors[%d]: %q is set twice", i, f.Name)
		}
		seen[f.Name] = true
	}
	// Workers may be left out: the machine's own number is then a part of what
	// is compared.
	needed := []string{setting.Route, setting.Connections}
	if x.Batches() {
		needed = []string{setting.Variant, setting.EventRate}
	}
	for _, need := range needed {
		if _, ok := x.fixed[need]; !ok && !seen[need] && x.Planned == "" {
			return fmt.Errorf("settings.%s is missing, and no factor of that name", need)
		}
	}
	for _, levels := range x.Conditions() {
		if err := possible(x.fixed.With(levels)); err != nil {
			return fmt.Errorf("%s: %w", levels.Key(), err)
		}
	}
	for _, s := range []string{Smoke, Full} {
		size, ok := x.Sizes[s]
		if !ok {
			return fmt.Errorf("sizes.%s is missing", s)
		}
		if size.Blocks < 1 || !(size.DurationS > 0) || !(size.WarmupS >= 0) || size.Repeats < 0 ||
			math.IsInf(size.DurationS, 0) || size.DurationS > 3600 || size.WarmupS > 3600 || size.Blocks > 1000 {
			return fmt.Errorf("sizes.%s: blocks (1 to 1000) and duration_s (up to 3600) must be positive, warmup_s and repeats not negative", s)
		}
	}
	if x.Profile != nil {
		if err := x.profiled(seen); err != nil {
			return err
		}
	}
	if len(x.Sizes) != 2 {
		return errors.New("sizes: only smoke and full exist")
	}
	if len(x.Claims) == 0 {
		return errors.New("claims is missing: a design without a claim decides nothing")
	}
	ids := map[string]bool{}
	for i := range x.Claims {
		c := &x.Claims[i]
		if err := c.check(seen); err != nil {
			return fmt.Errorf("claims[%d] %q: %w", i, c.ID, err)
		}
		if c.Profile != "" && x.Profile == nil {
			return fmt.Errorf("claims[%d] %q: profile: the experiment takes none; give it a [profile] table", i, c.ID)
		}
		if err := c.resolve(x.Factors); err != nil {
			return fmt.Errorf("claims[%d] %q: %w", i, c.ID, err)
		}
		if ids[c.ID] {
			return fmt.Errorf("claims[%d]: the id %q stands twice", i, c.ID)
		}
		if n := x.cores(); c.Needs.Cores > 0 && c.Needs.Cores < n {
			return fmt.Errorf("claims[%d] %q: needs.cores = %d, but the design takes %d; ask for as many or leave it out", i, c.ID, c.Needs.Cores, n)
		}
		if _, fixed := x.fixed[c.Equals]; c.Kind == Count && !fixed && !seen[c.Equals] {
			return fmt.Errorf("claims[%d] %q: equals %q: the experiment does not set it", i, c.ID, c.Equals)
		}
		ids[c.ID] = true
	}
	for i, w := range x.Withdrawn {
		switch {
		case !name.MatchString(w.ID):
			return fmt.Errorf("withdrawn[%d]: id must be lower-case words joined by hyphens", i)
		case strings.TrimSpace(w.Why) == "":
			return fmt.Errorf("withdrawn[%d] %q: why is missing: say what was wrong with the claim", i, w.ID)
		case ids[w.ID]:
			return fmt.Errorf("withdrawn[%d]: the id %q stands twice; a new claim takes a new id", i, w.ID)
		}
		ids[w.ID] = true
	}
	return nil
}

// profiled refuses a design whose profiles could not be taken.
func (x *Experiment) profiled(factors map[string]bool) error {
	if c := x.Profile.Compare; c != "" && !factors[c] {
		return fmt.Errorf("profile.compare %q: no factor of that name", c)
	}
	if x.Null() {
		return errors.New("profile: the null server has no profiles")
	}
	// net/http/pprof takes its window in whole seconds.
	for name, s := range x.Sizes {
		if s.DurationS != math.Trunc(s.DurationS) {
			return fmt.Errorf("sizes.%s.duration_s: whole seconds, where profiles are taken", name)
		}
	}
	return nil
}

// settable refuses a level that the setting, or the topology, does not have.
func (x *Experiment) settable(name string, l setting.Level) error {
	if err := setting.Check(name, l); err != nil {
		return err
	}
	return x.Topology.fits(name, l)
}

// Batches tells whether batches of events are what every condition sends.
func (x *Experiment) Batches() bool {
	return x.fixed[setting.Server] == setting.String(setting.Producer)
}

// possible refuses settings that no trial could have together.
func possible(s setting.Levels) error {
	if done, err := possibleBatches(s); done {
		return err
	}
	// The settings have more than the lab can do: what texts did.
	if r, ok := s[setting.Route]; ok && !setting.IsPath(r) {
		return fmt.Errorf("the lab requests one path at a time, and not %s", r)
	}
	if g, ok := s[setting.Generator]; ok && g != setting.String(setting.Autocannon) && g != setting.String(setting.Fortio) {
		return fmt.Errorf("the lab does not run %s; use autocannon or fortio", g)
	}
	pipelining, _ := s[setting.Pipelining].Int()
	if s[setting.Generator] == setting.String(setting.Fortio) && pipelining > 1 {
		return errors.New("fortio does not pipeline; use autocannon, or pipelining = 1")
	}
	if s[setting.Server] == setting.String(setting.Null) {
		for _, name := range []string{setting.Stack, setting.Prefork, setting.Workers, setting.Index, setting.WriteBuffer, setting.SpinNs} {
			if _, ok := s[name]; ok {
				return fmt.Errorf("the null server has no %s", name)
			}
		}
	}
	if stack, ok := s[setting.Stack]; ok && stack != setting.String(setting.Fiber) && s[setting.Prefork] != setting.Bool(false) {
		return fmt.Errorf("%s has no prefork; set prefork = false", stack)
	}
	overload, _ := s[setting.Overload].Bool()
	if rate, _ := s[setting.Rate].Int(); overload && rate == 0 {
		return errors.New("overload needs a rate: a closed loop asks for none")
	}
	return nil
}

// batching are the settings of a producer of events and its receiver; all that
// they share with other trials is which server, generator and replicate.
var batching = []string{
	setting.Variant, setting.EventRate, setting.Pacing, setting.EventBytes, setting.BatchEvents, setting.FlushMs, setting.QueueEvents,
	setting.WhenFull, setting.Stagger, setting.Attempts, setting.SinkLatencyMs, setting.SinkErrors,
}

// possibleBatches refuses what a producer of events cannot do, and what nobody
// else can. done says that there is nothing more to be looked at.
func possibleBatches(s setting.Levels) (done bool, err error) {
	sends, receives := s[setting.Server] == setting.String(setting.Producer), s[setting.Generator] == setting.String(setting.Sink)
	if sends != receives {
		return true, fmt.Errorf("server = %q and generator = %q belong together", setting.Producer, setting.Sink)
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		shared := name == setting.Server || name == setting.Generator || name == setting.Replicate
		switch batches := slices.Contains(batching, name); {
		case sends && !batches && !shared:
			return true, fmt.Errorf("a producer of events has no %s", name)
		case !sends && batches:
			return true, fmt.Errorf("%s is a producer's; set server = %q and generator = %q", name, setting.Producer, setting.Sink)
		}
	}
	if !sends {
		return false, nil
	}
	switch variant := s[setting.Variant].String(); {
	case s[setting.Stagger] == setting.Bool(true) && !strings.HasPrefix(variant, "pool-"):
		return true, fmt.Errorf("stagger is about a pool's workers, and variant = %q has none", variant)
	case s[setting.EventRate] == setting.Int(0) && s[setting.Pacing] == setting.String("ticker"):
		return true, errors.New("event_rate = 0 looks for the limit, which takes pacing = \"open\"")
	}
	if n, ok := s[setting.EventBytes].Int(); ok && !slices.Contains(event.Sizes, int(n)) {
		return true, fmt.Errorf("event_bytes = %d; use 64, 256, 1024 or 4096", n)
	}
	if n, _ := s[setting.SinkErrors].Int(); n > 1000 {
		return true, fmt.Errorf("sink_errors_permille = %d is more than all", n)
	}
	return true, nil
}

func (t Topology) check() error {
	switch {
	case t.Kind == "loopback", t.Kind == "fleet":
		if t.LineRateBps != 0 || t.BurstBytes != 0 || t.QueueS != 0 {
			return fmt.Errorf("topology: %s has no line rate to set", t.Kind)
		}
	case t.Kind == "netns":
		if !(t.LineRateBps > 0) || t.BurstBytes <= 0 || !(t.QueueS > 0) || math.IsInf(t.LineRateBps, 0) || math.IsInf(t.QueueS, 0) {
			return errors.New("topology: netns needs line_rate_bps, burst_bytes and queue_s, all positive")
		}
	default:
		return fmt.Errorf("topology.kind %q: use loopback, netns or fleet", t.Kind)
	}
	return nil
}

func (f *Factor) resolve(check func(string, setting.Level) error) error {
	if len(f.Levels) < 2 {
		return fmt.Errorf("%q needs at least two levels", f.Name)
	}
	for _, v := range f.Levels {
		l, err := setting.Of(v)
		if err == nil {
			err = check(f.Name, l)
		}
		if err != nil {
			return err
		}
		if n := len(f.levels); n > 0 && !f.levels[n-1].Less(l) {
			return fmt.Errorf("%q: levels must rise, so that first and last mean the same everywhere", f.Name)
		}
		f.levels = append(f.levels, l)
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
	if c.About != "" && c.About != AboutClient {
		return fmt.Errorf("about %q: use client, or leave it out for a claim about the server", c.About)
	}
	if m, _ := metric.Lookup(c.Metric); c.About != "" && !m.MeasuresClient {
		return fmt.Errorf("about: %q is not what a client achieves, so the wall makes no difference to it; leave about out", c.Metric)
	}
	for _, said := range []struct{ field, v string }{{"text", c.Text}, {"why", c.Why}} {
		if err := oneline.Check(said.v); err != nil {
			return fmt.Errorf("%s %w", said.field, err)
		}
	}
	known := func(b string) bool {
		return b == string(bound.Wire) || b == string(bound.ClientCPU) || b == string(bound.ServerCPU)
	}
	if c.Needs.Bound != "" && !known(c.Needs.Bound) {
		return fmt.Errorf("needs.bound %q: use wire, client-cpu or server-cpu", c.Needs.Bound)
	}
	if c.Kind != Bound && c.Kind != Share && c.Kind != Absent {
		if _, ok := metric.Lookup(c.Metric); !ok {
			return fmt.Errorf("unknown metric %q", c.Metric)
		}
	}
	if (c.Kind == Flat || c.Kind == Ratio || c.Kind == Monotonic) && !factors[c.Over] {
		return fmt.Errorf("over %q: no factor of that name", c.Over)
	}
	// Each kind takes its own fields and no other, so that none is ignored.
	type fields struct{ metric, margin, bar, bound, equals, over, profile bool }
	takes := map[Kind]fields{
		Flat: {metric: true, margin: true, over: true}, Monotonic: {metric: true, margin: true, over: true},
		Ratio: {metric: true, bar: true, over: true}, Bound: {bound: true}, Count: {metric: true, equals: true},
		Share: {profile: true, bar: true}, Absent: {profile: true},
	}
	want, ok := takes[c.Kind]
	if !ok {
		return fmt.Errorf("unknown kind %q: use flat, ratio, monotonic, bound, count, share or absent", c.Kind)
	}
	has := fields{c.Metric != "", c.Margin != nil, c.AtLeast != nil || c.AtMost != nil, c.Bound != "", c.Equals != "", c.Over != "", c.Profile != "" || c.Package != "" || c.Work != ""}
	if has != want || c.Plus != 0 && c.Kind != Count {
		return fmt.Errorf("kind %q does not take these fields (flat and monotonic: over, margin; ratio: over and one of at_least, at_most; bound: bound and no metric; count: equals, plus; share: profile, package or work, and one of at_least, at_most; absent: profile, package)", c.Kind)
	}
	if want.profile {
		if err := c.checkProfile(); err != nil {
			return err
		}
	}
	switch {
	case c.Margin != nil && !(*c.Margin >= 0 && *c.Margin < 10), c.Kind == Flat && *c.Margin == 0:
		return errors.New("margin must be above 0 (monotonic: 0 or more) and below 10")
	case c.AtLeast != nil && c.AtMost != nil:
		return errors.New("at_least and at_most exclude each other")
	case c.AtLeast != nil && !bar(*c.AtLeast), c.AtMost != nil && !bar(*c.AtMost):
		return errors.New("a ratio's bar, as a share's, must be a number above 0")
	case c.Kind == Bound && !known(c.Bound):
		return fmt.Errorf("bound %q: use wire, client-cpu or server-cpu", c.Bound)
	case c.Kind == Count && setting.Check(c.Equals, setting.Int(1)) != nil:
		return fmt.Errorf("equals %q: no such numeric setting", c.Equals)
	}
	return nil
}

// checkProfile refuses what no profile could be asked.
func (c *Claim) checkProfile() error {
	if !slices.Contains(profiles.Kinds(), profiles.Kind(c.Profile)) {
		return fmt.Errorf("profile %q: use one of %v", c.Profile, profiles.Kinds())
	}
	switch {
	case (c.Package == "") == (c.Work == ""):
		return errors.New("say either package or work")
	case c.Kind == Absent && c.Work != "":
		return errors.New("absent is about a package: a kind of work covers too much to be gone")
	case c.Work != "" && !symbol.IsWork(c.Work):
		return fmt.Errorf("work %q: no such kind of work", c.Work)
	case c.Package != "" && symbol.Package(c.Package+".F") != c.Package:
		return fmt.Errorf("package %q: profiles count it as %q", c.Package, symbol.Package(c.Package+".F"))
	case c.AtLeast != nil && *c.AtLeast > 1, c.AtMost != nil && *c.AtMost >= 1:
		return errors.New("a share's bar lies between 0 and 1")
	}
	return nil
}

// resolve turns the raw levels that a claim is kept to into levels, each of
// which must be one of the design's.
func (c *Claim) resolve(factors []Factor) error {
	for _, name := range slices.Sorted(maps.Keys(c.At)) {
		l, err := setting.Of(c.At[name])
		if err != nil {
			return fmt.Errorf("at.%s: %w", name, err)
		}
		i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == name })
		switch {
		case i < 0:
			return fmt.Errorf("at.%s: no factor of that name", name)
		case name == c.Over:
			return fmt.Errorf("at.%s: the claim compares its levels", name)
		case !slices.Contains(factors[i].levels, l):
			return fmt.Errorf("at.%s: %s is none of its levels", name, l)
		}
		if c.at == nil {
			c.at = setting.Levels{}
		}
		c.at[name] = l
	}
	return nil
}

func bar(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// Fixed returns the settings that are the same in every trial.
func (x *Experiment) Fixed() setting.Levels { return x.fixed.With(nil) }

// Conditions returns every combination of levels, the first factor slowest.
func (x *Experiment) Conditions() []setting.Levels {
	conds := []setting.Levels{{}}
	for _, f := range x.Factors {
		var next []setting.Levels
		for _, c := range conds {
			for _, l := range f.levels {
				next = append(next, c.With(setting.Levels{f.Name: l}))
			}
		}
		conds = next
	}
	return conds
}

// Null tells whether the null server is what any condition loads.
func (x *Experiment) Null() bool {
	return slices.ContainsFunc(x.Conditions(), func(levels setting.Levels) bool {
		return x.fixed.With(levels)[setting.Server] == setting.String(setting.Null)
	})
}

// LoadDir reads every experiment of a directory, sorted by name.
func LoadDir(dir string) ([]*Experiment, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.toml"))
	if err != nil {
		return nil, err
	}
	// By name: with its ending, a name would stand after one that it begins.
	slices.SortFunc(paths, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ".toml"), strings.TrimSuffix(b, ".toml"))
	})
	var xs []*Experiment
	for _, p := range paths {
		x, err := Load(p)
		if err != nil {
			return nil, err
		}
		xs = append(xs, x)
	}
	if len(xs) == 0 {
		return nil, fmt.Errorf("%s: no experiment (*.toml) there", dir)
	}
	return xs, nil
}
