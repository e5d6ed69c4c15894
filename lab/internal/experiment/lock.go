package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Withdrawal says why a claim that runs were judged by is no longer part of
// the experiment.
type Withdrawal struct {
	ID   string   `toml:"id"`
	IDs  []string `toml:"ids"`  // in place of an id: of several claims, each of which has an entry once it is parsed
	Text string   `toml:"text"` // its words, where no run that counts has them
	Why  string   `toml:"why"`
}

// A bars is a claim's own part of what its verdict depends on, without its
// words and reasons.
type bars struct {
	Kind    Kind           `json:"kind"`
	Metric  string         `json:"metric"`
	Over    string         `json:"over"`
	Margin  *float64       `json:"margin"`
	AtLeast *float64       `json:"at_least"`
	AtMost  *float64       `json:"at_most"`
	Bound   string         `json:"bound"`
	Equals  string         `json:"equals"`
	Plus    int64          `json:"plus"`
	Profile string         `json:"profile"`
	Package string         `json:"package"`
	Work    string         `json:"work"`
	At      setting.Levels `json:"at"`
	Needs   Needs          `json:"needs"`
	About   string         `json:"about"`
	// Levels are absent from a claim that compares all of a factor's, so that older
	// claims keep their digest.
	Levels []setting.Level `json:"levels,omitempty"`
}

// A locked is everything but a claim's bars that its verdict depends on. The budget is left
// out: the length of a run changes how much it can tell, not what is asked.
type locked struct {
	Topology Topology       `json:"topology"`
	Settings setting.Levels `json:"settings"`
	Factors  []lockedFactor `json:"factors"`
	Profiled bool           `json:"profiled"`
	// absent if no profile is taken, so that older designs keep their digest
	ProfileS float64 `json:"profile_s,omitempty"`
	Block    *Block  `json:"block"`
	// Servers are those of the file's own that are loaded; absent without any, so
	// that older designs keep their digest.
	Servers map[string]lockedServer `json:"servers,omitempty"`
}

// A lockedServer is what decides what a request to a server costs, and so which
// runs count together.
type lockedServer struct {
	Command string            `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Build   string            `json:"build,omitempty"`
	Prefork bool              `json:"prefork,omitempty"`
	Process string            `json:"process,omitempty"`
	Answers string            `json:"answers,omitempty"`
}

type lockedFactor struct {
	Name   string          `json:"name"`
	Levels []setting.Level `json:"levels"`
}

func (c Claim) bars() bars {
	b := bars{
		Kind: c.Kind, Metric: c.Metric, Over: c.Over, Margin: c.Margin, AtLeast: c.AtLeast, AtMost: c.AtMost,
		Bound: c.Bound, Equals: c.Equals, Plus: c.More(), Profile: c.Profile, Package: c.Package, Work: c.Work,
		At: c.at, Needs: c.Needs, About: c.About, Levels: c.levels,
	}
	// What had a kind of its own keeps the digest that runs have of it: a count, and a package that is gone.
	switch low, high := c.Edges(); {
	case c.Equals != "":
		b.Kind = "count"
	case c.Kind == Value && low == high && low == math.Trunc(low):
		b.Kind, b.Plus, b.AtLeast, b.AtMost = "count", int64(low), nil, nil
	case c.Absent():
		b.Kind, b.AtMost = "absent", nil
	}
	return b
}

// Locks are what a run was made with: a digest of what the locks of all claims have in
// common, and those of the claims. A run decides only claims that are still the same.
type Locks struct {
	Design string          `json:"design"`
	Claims map[string]Lock `json:"claims"`
}

// A Lock has the digest of a claim's own bars, and what divides the risk of a wrong
// verdict among claims: its kind, and the cores without which it is not decided.
type Lock struct {
	Kind  Kind   `json:"kind"`
	Bars  string `json:"bars"`
	Cores int    `json:"cores,omitempty"`
}

// Locks gives those of the experiment as it is.
func (x *Experiment) Locks() *Locks {
	all := &Locks{Design: x.Design(), Claims: map[string]Lock{}}
	for _, c := range x.Claims {
		all.Claims[c.ID] = Lock{c.Kind, x.Bars(c), x.Needs(c).Cores}
	}
	return all
}

// Then is the experiment with the claims that a run was made with: those that are still
// the same, and of the others no more than their locks.
func (x *Experiment) Then(l *Locks) *Experiment {
	then := *x
	then.locks, then.Claims = l, nil
	for _, c := range x.Claims {
		if is, ok := l.Claims[c.ID]; ok && is.Bars == x.Bars(c) && l.Design == x.Design() {
			then.Claims = append(then.Claims, c)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(l.Claims)) {
		if _, same := then.Claim(id); !same {
			then.Claims = append(then.Claims, Claim{ID: id, Kind: l.Claims[id].Kind})
		}
	}
	return &then
}

// Older tells whether the run was made with another design than today's, of which no more
// is known than its locks.
func (x *Experiment) Older() bool {
	now := *x
	now.locks = nil
	return x.locks != nil && now.Design() != x.locks.Design
}

// Bars is a digest of the claim's own bars, without the design around it.
func (x *Experiment) Bars(c Claim) string {
	if x.locks != nil {
		return x.locks.Claims[c.ID].Bars
	}
	return digest(c.bars())
}

// Lock says everything that decides a claim: the design and the claim's own bars. Two
// claims with the same lock are the same claim, whatever else is in the file.
func (x *Experiment) Lock(c Claim) string { return x.Design() + " " + x.Bars(c) }

// Design is a digest of what the locks of all the claims have in common.
func (x *Experiment) Design() string {
	if x.locks != nil {
		return x.locks.Design
	}
	l := locked{Topology: x.Topology, Settings: x.fixed, Block: &x.Block, Profiled: x.Profile != nil,
		ProfileS: x.ProfileS(), Servers: x.lockedServers()}
	l.Factors = strict.Map(x.Factors, func(f Factor) lockedFactor { return lockedFactor{f.Name, f.levels} })
	return digest(l)
}

func (x *Experiment) lockedServers() map[string]lockedServer {
	all := map[string]lockedServer{}
	for _, s := range x.Loaded() {
		if x.Servers[s.Name] != nil {
			all[s.Name] = lockedServer{s.Command, s.Env, s.Build, s.Prefork, s.Process, s.Answers}
		}
	}
	return all
}

func digest(v any) string {
	text, err := json.Marshal(v) // maps are written sorted by key
	if err != nil {
		panic(err) // a checked design always marshals
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Claim finds a claim by its id.
func (x *Experiment) Claim(id string) (Claim, bool) {
	return strict.Find(x.Claims, func(c Claim) bool { return c.ID == id })
}

// Holds tells whether the experiment has this claim of another of its designs
// unchanged: the same id and the same lock.
func (x *Experiment) Holds(of *Experiment, c Claim) bool {
	mine, ok := x.Claim(c.ID)
	return ok && x.Lock(mine) == of.Lock(c)
}
