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

// Locks are what a run was made with: a digest of the design that all claims share, and those of the claims. A run
// decides only claims that are still the same. A claim that goes takes nothing from the others.
type Locks struct {
	Design string          `json:"design"`
	Claims map[string]Lock `json:"claims"`
}

// A Lock has the digest of a claim's own bars, and what divides the risk of a wrong verdict among claims: its kind,
// and the cores without which it is not decided.
type Lock struct {
	Kind  Kind   `json:"kind"`
	Bars  string `json:"bars"`
	Cores int    `json:"cores,omitempty"`
}

// Locks gives those of the experiment as it is.
func (x *Experiment) Locks() *Locks {
	all := &Locks{Design: x.Design(), Claims: map[string]Lock{}}
	for _, c := range x.Claims {
		all.Claims[c.ID] = Lock{c.Kind, x.Bars(c), x.Cores(c)}
	}
	return all
}

// Then is the experiment with the claims that a run was made with: those that are still the same, and of the others no
// more than their locks.
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

// Older tells whether the run was made with another design than today's, of which no more is known than its locks.
func (x *Experiment) Older() bool {
	now := *x
	now.locks = nil
	return x.locks != nil && now.Design() != x.locks.Design
}

// Bars is a digest of the claim's own bars, without the design around it, and without words and reasons.
func (x *Experiment) Bars(c Claim) string {
	if x.locks != nil {
		return x.locks.Claims[c.ID].Bars
	}
	// Counts had a kind of their own, and keep the digest that runs have.
	switch low, high := c.Edges(); {
	case c.Equals != "":
		c.Kind = "count"
	case c.Kind == Value && low == high && low == math.Trunc(low):
		c.Kind, c.Plus, c.AtLeast, c.AtMost = "count", int64(low), nil, nil
	}
	return digest(c)
}

// Design is a digest of what the locks of all the claims have in common: everything but the claims that a verdict
// depends on. It leaves out the budget: the length of a run changes how much it can tell, not the question.
func (x *Experiment) Design() string {
	if x.locks != nil {
		return x.locks.Design
	}
	own := map[string]*Server{} // of the file's own, those that are loaded
	for _, s := range x.Loaded() {
		if x.Servers[s.Name] != nil {
			own[s.Name] = s
		}
	}
	// The first digests had the topology's fields by their names in Go.
	type untagged struct {
		Kind        string
		LineRateBps float64
		BurstBytes  int64
		QueueS      float64
	}
	return digest(struct {
		Topology untagged           `json:"topology"`
		Settings setting.Levels     `json:"settings"`
		Factors  []Factor           `json:"factors"`
		Profiled bool               `json:"profiled"`
		ProfileS float64            `json:"profile_s,omitempty"`
		Block    Block              `json:"block"`
		Servers  map[string]*Server `json:"servers,omitempty"`
	}{untagged(x.Topology), x.fixed, x.Factors, x.Profile != nil, x.ProfileS(), x.Block, own})
}

func digest(v any) string {
	text, err := json.Marshal(v) // JSON sorts maps by key
	if err != nil {
		panic(err) // a checked design always marshals
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Lock says everything that decides a claim: the design and the claim's own bars. Two claims with the same lock are the
// same claim, whatever else is in the file.
func (x *Experiment) Lock(c Claim) string { return x.Design() + " " + x.Bars(c) }

// Claim finds a claim by its id.
func (x *Experiment) Claim(id string) (Claim, bool) {
	return strict.Find(x.Claims, func(c Claim) bool { return c.ID == id })
}

// Holds tells whether the experiment has this claim of another of its designs unchanged: the same id and the same lock.
func (x *Experiment) Holds(of *Experiment, c Claim) bool {
	mine, ok := x.Claim(c.ID)
	return ok && x.Lock(mine) == of.Lock(c)
}
