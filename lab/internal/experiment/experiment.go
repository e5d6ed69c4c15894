// Package experiment reads a declared design: factors and their levels, the
// load, the division of a block's time, and the claims that it can decide. One
// TOML file is one experiment, written before the run. The package also draws
// what a run leaves to chance: the order of the conditions in each block, and
// which condition is measured twice.
//
// A file either has exactly one meaning or is refused, with the line. Unknown
// keys are errors, because a misspelt margin would otherwise let a default
// decide a claim.
//
// A person who chooses the order could choose the result, so everything is
// drawn from the run's seed alone, and can be drawn again from the run's file:
// `run` measures in this order and `results` checks it. The seed itself cannot
// be checked.
package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// An Experiment is one file of lab/experiments.
type Experiment struct {
	Name      string             `toml:"-"` // file name without extension
	SHA256    string             `toml:"-"` // of the file, so that a run says which wording it tested
	Text      []byte             `toml:"-"` // the file itself, which a run stores with the data
	Entry     string             `toml:"entry"`
	Title     string             `toml:"title"`
	Question  string             `toml:"question"`
	Core      bool               `toml:"core"`
	Metrics   []string           `toml:"metrics"`
	Topology  Topology           `toml:"topology"`
	Settings  map[string]any     `toml:"settings"`
	Factors   []Factor           `toml:"factors"`
	Servers   map[string]*Server `toml:"servers"`
	BudgetS   float64            `toml:"budget_s"`
	Block     Block              `toml:"block"`
	Claims    []Claim            `toml:"claims"`
	Withdrawn []Withdrawal       `toml:"withdrawn"` // so that no claim disappears or changes unnoticed
	Profile   *Profile           `toml:"profile"`   // nil: none is taken
	Relative  *Relative          `toml:"relative"`  // in no claim's digest, since it decides nothing

	fixed   setting.Levels
	without []setting.Levels // of a copy that Without made
	locks   *Locks           // of a copy that Then made
}

// Topology says how client and server are joined.
type Topology struct {
	Kind        string  `toml:"kind"` // loopback, netns, or fleet: a server and clients on hosts of their own
	LineRateBps float64 `toml:"line_rate_bps"`
	BurstBytes  int64   `toml:"burst_bytes"`
	QueueS      float64 `toml:"queue_s"`
}

// A Factor is a setting with several levels.
type Factor struct {
	Name   string `toml:"name"`
	Levels []any  `toml:"levels"`

	levels []setting.Level
}

func factorName(f Factor) string { return f.Name }

// All are the factor's levels, in its order.
func (f Factor) All() []setting.Level { return slices.Clone(f.levels) }

// A Profile says how profiles are taken and compared.
type Profile struct {
	Seconds float64 `toml:"seconds"` // length of one profile, in whole seconds
	Compare string  `toml:"compare"` // factor whose last level is drawn against its first
}

var (
	name  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	entry = regexp.MustCompile(`^[a-z0-9]+$`)
)

// Load reads one experiment. Errors name the file and, if possible, the line.
func Load(path string) (*Experiment, error) {
	data, err := strict.ReadUpTo(path, strict.MostWritten)
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		return nil, err
	}
	var x *Experiment
	if err == nil {
		x, err = Parse(strings.TrimSuffix(filepath.Base(path), ".toml"), data)
	}
	if err == nil {
		err = x.twice()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// Parse parses the experiment of the given name.
func Parse(id string, data []byte) (*Experiment, error) {
	x := &Experiment{}
	if err := strict.DecodeTOML(data, x); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	x.Name, x.SHA256, x.Text = id, hex.EncodeToString(sum[:]), data
	if err := x.resolve(); err != nil {
		return nil, err
	}
	return x, nil
}

// resolve checks the whole design and parses its levels.
func (x *Experiment) resolve() error {
	if !name.MatchString(x.Name) {
		return fmt.Errorf("the file's name %q must be lower-case words joined by hyphens", x.Name)
	}
	for _, text := range []struct{ field, v string }{{"entry", x.Entry}, {"title", x.Title}, {"question", x.Question}} {
		if text.v == "" {
			return fmt.Errorf("%s is missing", text.field)
		}
		if err := strict.CheckLine(text.v); err != nil {
			return fmt.Errorf("%s %w", text.field, err)
		}
	}
	if !entry.MatchString(x.Entry) {
		return fmt.Errorf("entry %q: an entry's number, as 09 or 06b, or a study's word", x.Entry)
	}
	if err := x.Topology.check(); err != nil {
		return err
	}
	if len(x.Metrics) == 0 {
		return errors.New("metrics is missing: name what pages are to show")
	}
	for _, m := range x.Metrics {
		if _, ok := metric.Lookup(m); !ok {
			return fmt.Errorf("metrics: unknown metric %q; %s", m, strict.Instead(m, metric.Names()))
		}
	}
	if err := resolveServers(x.Servers); err != nil {
		return err
	}
	x.fixed = setting.Levels{}
	for name, v := range x.Settings {
		l, err := setting.ParseLevel(v)
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
	// Workers may be left out: the machine's own number is then part of what is
	// compared.
	needed := []string{setting.Route, setting.Connections}
	switch {
	case x.Batches():
		needed = []string{setting.Variant, setting.EventRate}
	case x.fixed[setting.Generator] == setting.String(setting.Readers):
		needed = []string{setting.Connections, setting.Likes}
	}
	for _, need := range needed {
		if _, ok := x.fixed[need]; !ok && !seen[need] {
			return fmt.Errorf("settings.%s is missing, and no factor of that name", need)
		}
	}
	for _, levels := range x.Conditions() {
		if err := x.possible(x.fixed.With(levels)); err != nil {
			return fmt.Errorf("%s: %w", levels.Key(), err)
		}
	}
	if x.Profile != nil {
		if err := x.profiled(seen); err != nil {
			return err
		}
	}
	if err := x.Relative.resolve(x.Factors); err != nil {
		return fmt.Errorf("relative: %w", err)
	}
	if err := x.timed(); err != nil {
		return err
	}
	if len(x.Claims) == 0 {
		return errors.New("claims is missing: a design without a claim decides nothing")
	}
	ids := map[string]bool{}
	for i := range x.Claims {
		c := &x.Claims[i]
		if err := x.claims(c, seen); err != nil {
			return fmt.Errorf("claims[%d] %q: %w", i, c.ID, err)
		}
		if ids[c.ID] {
			return fmt.Errorf("claims[%d]: the id %q stands twice", i, c.ID)
		}
		ids[c.ID] = true
	}
	var withdrawn []Withdrawal
	for _, w := range x.Withdrawn {
		for _, id := range w.IDs {
			withdrawn = append(withdrawn, Withdrawal{ID: id, Text: w.Text, Why: w.Why})
		}
		if w.ID != "" || len(w.IDs) == 0 {
			withdrawn = append(withdrawn, w)
		}
	}
	x.Withdrawn = withdrawn
	for i, w := range x.Withdrawn {
		switch {
		case !name.MatchString(w.ID):
			return fmt.Errorf("withdrawn[%d]: id must be lower-case words joined by hyphens", i)
		case strings.TrimSpace(w.Why) == "":
			return fmt.Errorf("withdrawn[%d] %q: why is missing: say what was wrong with the claim", i, w.ID)
		case strict.CheckLine(w.Text) != nil:
			return fmt.Errorf("withdrawn[%d] %q: text: give the claim's words in one line", i, w.ID)
		case ids[w.ID]:
			return fmt.Errorf("withdrawn[%d]: the id %q stands twice; a new claim takes a new id", i, w.ID)
		}
		ids[w.ID] = true
	}
	return nil
}

// claims refuses a claim that says nothing, or that the design cannot test.
func (x *Experiment) claims(c *Claim, factors map[string]bool) error {
	c.Owner = cmp.Or(c.Owner, Journal)
	if err := cmp.Or(c.check(factors), c.resolve(x.Factors)); err != nil {
		return err
	}
	_, fixed := x.fixed[c.Equals]
	switch n := x.cores(); {
	case c.Profile != "" && x.Profile == nil:
		return errors.New("profile: the experiment takes none; give it a [profile] table")
	case c.Needs.Cores > 0 && c.Needs.Cores < n:
		return fmt.Errorf("needs.cores = %d, but the design takes %d; ask for as many or leave it out", c.Needs.Cores, n)
	case c.Equals != "" && !fixed && !factors[c.Equals]:
		return fmt.Errorf("equals %q: the experiment does not set it; %s", c.Equals,
			strict.Instead(c.Equals, slices.Sorted(maps.Keys(x.fixed.With(x.Conditions()[0])))))
	}
	return nil
}

// profiled refuses a design whose profiles could not be taken.
func (x *Experiment) profiled(factors map[string]bool) error {
	if c := x.Profile.Compare; c != "" && !factors[c] {
		return fmt.Errorf("profile.compare %q: no factor of that name; %s", c,
			strict.Instead(c, slices.Sorted(maps.Keys(factors))))
	}
	if name := x.Unprofiled(); name != "" {
		return fmt.Errorf("profile: the %s server has no profiles", name)
	}
	return nil
}

// settable refuses a level that the setting or the topology does not have.
func (x *Experiment) settable(name string, l setting.Level) error {
	if err := setting.Check(name, l); err != nil {
		return err
	}
	if name == setting.Server {
		if _, err := x.server(setting.Levels{name: l}); err != nil {
			return err
		}
	}
	return x.Topology.fits(name, l)
}

// Batches tells whether the servers of all conditions send batches of events.
func (x *Experiment) Batches() bool {
	_, set := x.fixed[setting.Server]
	return set && x.Server(x.fixed).Events
}

func (t Topology) check() error {
	switch {
	case t.Kind == "loopback", t.Kind == "fleet":
		if t.LineRateBps != 0 || t.BurstBytes != 0 || t.QueueS != 0 {
			return fmt.Errorf("topology: %s has no line rate to set", t.Kind)
		}
	case t.Kind == "netns":
		if !(t.LineRateBps > 0) || t.BurstBytes <= 0 || !(t.QueueS > 0) || math.IsInf(t.LineRateBps, 0) ||
			math.IsInf(t.QueueS, 0) {
			return errors.New("topology: netns needs line_rate_bps, burst_bytes and queue_s, all positive")
		}
	default:
		return fmt.Errorf("topology.kind: unknown kind %q; %s", t.Kind, strict.InsteadOf(t.Kind, Topologies()))
	}
	return nil
}

func (f *Factor) resolve(check func(string, setting.Level) error) error {
	if len(f.Levels) < 2 {
		return fmt.Errorf("%q needs at least two levels", f.Name)
	}
	for _, v := range f.Levels {
		l, err := setting.ParseLevel(v)
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

// Fixed returns the settings that are the same in every trial.
func (x *Experiment) Fixed() setting.Levels { return x.fixed.With(nil) }

// Conditions returns every combination of levels; the first factor varies
// slowest.
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
	return slices.DeleteFunc(conds, func(c setting.Levels) bool {
		return slices.ContainsFunc(x.without, func(out setting.Levels) bool { return c.With(out).Key() == c.Key() })
	})
}

// LoadDir reads every experiment of a directory, sorted by name.
func LoadDir(dir string) ([]*Experiment, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.toml"))
	if err != nil {
		return nil, err
	}
	// Sorted without the extension: with it, a name would come after a longer one
	// that begins with it.
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
