// Package experiment reads a declared design: factors and their levels, the load, the division of a block's time, and
// the claims that it can decide. One TOML file is one experiment, written before the run. It has exactly one meaning or
// is refused, with the line or the field: a misspelt margin would otherwise let a default decide a claim.
//
// The package also draws what a run leaves to chance: the order of the conditions in each block, and which condition is
// measured twice. A person who chooses the order could choose the result, so everything follows from the run's seed
// alone: `run` measures in this order and `results` checks it. Nobody can check the seed itself.
package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// An Experiment is one file of lab/experiments.
type Experiment struct {
	Name      string             `toml:"-"` // file name without extension
	SHA256    string             `toml:"-"` // of the file, so that a run says which wording it tested
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
	Profile   *Profile           `toml:"profile"`   // nil: no profile
	OwnWork   bool               `toml:"own_work"`  // gauge the client's work on the server's core, which decides nothing

	fixed setting.Levels
	locks *Locks // of a copy that Then made
}

// Topology says how client and server are joined. Its fields, like those of a Block, a Factor and a
// Server, are in the order of a design's digest.
type Topology struct {
	Kind        string  `toml:"kind" json:"kind"` // loopback, netns, or fleet: a server and clients on hosts of their own
	LineRateBps float64 `toml:"line_rate_bps" json:"line_rate_bps,omitempty"`
	BurstBytes  int64   `toml:"burst_bytes" json:"burst_bytes,omitempty"`
	QueueS      float64 `toml:"queue_s" json:"queue_s,omitempty"`
}

// A Factor is a setting with several levels.
type Factor struct {
	Name   string `toml:"name" json:"name"`
	Levels []any  `toml:"levels" json:"levels"`

	All []setting.Level `toml:"-" json:"-"` // the levels, parsed
}

func factorName(f Factor) string { return f.Name }

// A Block says how the time of one block of a run is divided. The servers of its conditions are started afresh, and
// each condition gets its turns, called slots.
type Block struct {
	SlotS   float64 `toml:"slot_s" json:"slot_s"`     // counted seconds of one slot
	Rounds  int     `toml:"rounds" json:"rounds"`     // slots of each condition
	WarmupS float64 `toml:"warmup_s" json:"warmup_s"` // seconds of load on each server before its first slot
}

// A Profile says how profiles are taken.
type Profile struct {
	Seconds float64 `toml:"seconds"` // length of one profile, in whole seconds
}

// Load reads one experiment. Errors name the file and, if possible, the line.
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

// LoadDir reads every experiment of a directory, sorted by name.
func LoadDir(dir string) (all []*Experiment, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.toml"))
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		x, err := Load(p)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no experiment (*.toml) there", dir)
	}
	// Not by path: with its extension, a name would come after a longer one that begins with it.
	slices.SortFunc(all, func(a, b *Experiment) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Parse parses the experiment of the given name.
func Parse(id string, data []byte) (*Experiment, error) {
	x := &Experiment{}
	if err := strict.DecodeTOML(data, x); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	x.Name, x.SHA256 = id, hex.EncodeToString(sum[:])
	for _, check := range []func() error{x.checkHead, x.checkLevels, x.checkTimes, x.checkClaims} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Fixed returns the settings that are the same in every trial.
func (x *Experiment) Fixed() setting.Levels { return x.fixed.With(nil) }

// Conditions returns every combination of levels; the first factor varies slowest.
func (x *Experiment) Conditions() []setting.Levels {
	conds := []setting.Levels{{}}
	for _, f := range x.Factors {
		var next []setting.Levels
		for _, c := range conds {
			for _, l := range f.All {
				next = append(next, c.With(setting.Levels{f.Name: l}))
			}
		}
		conds = next
	}
	return conds
}

// Whole gives the conditions with all their levels.
func (x *Experiment) Whole() []setting.Levels { return strict.Map(x.Conditions(), x.fixed.With) }

// ProfileS is how long each server is profiled, in seconds; 0 where it is not.
func (x *Experiment) ProfileS() float64 { return cmp.Or(x.Profile, &Profile{}).Seconds }

// Generator is the load generator for these settings.
func Generator(s setting.Levels) string {
	if g, ok := s[setting.Generator]; ok {
		return g.String()
	}
	return setting.Autocannon // the only one when files had no such setting
}

// Cores is how many logical CPUs of the server's host a claim needs; 0 if any number will do.
func (x *Experiment) Cores(c Claim) int {
	if x.locks != nil {
		return x.locks.Claims[c.ID].Cores
	}
	return c.Needs.Cores
}

// Turns gives the knobs that a condition turns, in that order. Only root of a machine may turn them.
func Turns(s setting.Levels) []setting.Knob {
	return strict.Filter(setting.Knobs(), func(k setting.Knob) bool { return s[k.Setting] == k.At() })
}

// Groups says which conditions are up together within a block, as indexes into conditions, each of which has all its
// levels. A group's indexes ascend, and groups are ordered by their first index.
//
// Only http_load can alternate between servers. Conditions that can be measured at once need no slots, and form groups
// too. All others are alone. A group has one kind of client with one number of threads, and one state of the kernel
// settings, which cannot be changed for a single slot.
func Groups(conditions []setting.Levels) [][]int {
	var groups [][]int
	known := map[string]int{}
	for i, levels := range conditions {
		turns := Generator(levels) == setting.HTTPLoad
		if !turns && !AtOnce(levels) {
			groups = append(groups, []int{i})
			continue
		}
		names := []string{setting.Generator, setting.ClientWorkers}
		for _, k := range setting.Knobs() {
			names = append(names, k.Setting)
		}
		if !turns { // one sampler watches one set of server cores
			names = append(names, setting.ServerCPUs)
		}
		same := maps.Clone(levels)
		maps.DeleteFunc(same, func(name string, _ setting.Level) bool { return !slices.Contains(names, name) })
		g, ok := known[same.Key()]
		if !ok {
			g = len(groups)
			known[same.Key()] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// AtOnce tells whether the lab can measure a condition at the same time as others like it, each by a client of its
// own. A receiver of events is such a one: it takes a few hundredths of a core.
func AtOnce(levels setting.Levels) bool { return Generator(levels) == setting.Sink }

// DrawBlock gives the order of one block, numbered from 1: the groups in the order drawn, each as the conditions of its
// slots. Every condition of a group has one slot in each round. A group measured at once has one round, whose order
// means nothing. The draw does not depend on other blocks or their number.
func DrawBlock(groups [][]int, rounds int, seed uint64, block int) [][]int {
	r := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "seed %d block %d", seed, block))))
	out := make([][]int, 0, len(groups))
	for _, g := range r.Perm(len(groups)) {
		slots := make([]int, 0, rounds*len(groups[g]))
		for range rounds {
			for _, i := range r.Perm(len(groups[g])) {
				slots = append(slots, groups[g][i])
			}
		}
		out = append(out, slots)
	}
	return out
}

// Members are the conditions that have a slot in a sequence of DrawBlock, each once and ascending.
func Members(sequence []int) []int {
	all := slices.Clone(sequence)
	slices.Sort(all)
	return slices.Compact(all)
}

// DrawControl gives the index of the condition that is measured twice.
func DrawControl(conditions int, seed uint64) int {
	return rand.New(rand.NewPCG(seed, 1)).IntN(conditions)
}
