package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Withdrawal says why a claim that runs were judged by is no longer part of
// the experiment. The claim itself is kept with the design of those runs.
type Withdrawal struct {
	ID   string `toml:"id"`
	Text string `toml:"text"` // its words, where no run that counts has them
	Why  string `toml:"why"`
}

// A Correction says that a claim that runs were judged by is worded otherwise now.
// Its bars are the same, so its record stands; and readers of the record see what
// it was once said to be about.
type Correction struct {
	ID  string `toml:"id" json:"-"`
	Was string `toml:"was" json:"was"`
	Why string `toml:"why" json:"why"`
}

// Corrections gives those of a claim, in the order of the file.
func (x *Experiment) Corrections(id string) []Correction {
	return strict.Those(x.Corrected, func(c Correction) bool { return c.ID == id })
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
	// absent without a wall that moves, so that older claims keep their digest
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Levels are absent from a claim that compares all of a factor's, so that older
	// claims keep their digest.
	Levels []setting.Level `json:"levels,omitempty"`
}

// A locked is everything that a claim's verdict depends on. The budget is left
// out: the length of a run changes how much it can tell, not what is asked.
type locked struct {
	Topology Topology       `json:"topology"`
	Settings setting.Levels `json:"settings"`
	Factors  []lockedFactor `json:"factors"`
	Profiled bool           `json:"profiled"`
	// absent if no profile is taken, so that older designs keep their digest
	ProfileS float64 `json:"profile_s,omitempty"`
	Block    *Block  `json:"block"`
	Bars     bars    `json:"bars"`
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
	return bars{
		Kind: c.Kind, Metric: c.Metric, Over: c.Over, Margin: c.Margin, AtLeast: c.AtLeast, AtMost: c.AtMost,
		Bound: c.Bound, Equals: c.Equals, Plus: c.More(), Profile: c.Profile, Package: c.Package, Work: c.Work,
		At: c.at, Needs: c.Needs, About: c.About, From: c.From, To: c.To, Levels: c.levels,
	}
}

// Bars is the SHA-256, in hexadecimal, of the claim's own bars, without the
// design around it.
func (x *Experiment) Bars(c Claim) string { return digest(c.bars()) }

// Lock is the SHA-256, in hexadecimal, of everything that decides a claim: the
// design and the claim's own bars. Two claims with the same lock are the same
// claim, whatever else is in the file.
func (x *Experiment) Lock(c Claim) string { return x.lock(c.bars()) }

// Design is the SHA-256, in hexadecimal, of what the locks of all the claims have
// in common.
func (x *Experiment) Design() string { return x.lock(bars{}) }

func (x *Experiment) lock(b bars) string {
	l := locked{Topology: x.Topology, Settings: x.fixed, Block: &x.Block, Profiled: x.Profile != nil,
		ProfileS: x.ProfileS(), Bars: b, Servers: x.lockedServers()}
	l.Factors = strict.Called(x.Factors, func(f Factor) lockedFactor { return lockedFactor{f.Name, f.levels} })
	return digest(l)
}

func (x *Experiment) lockedServers() map[string]lockedServer {
	if len(x.Servers) == 0 {
		return nil
	}
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
	return hex.EncodeToString(sum[:])
}

// Claim finds a claim by its id.
func (x *Experiment) Claim(id string) (Claim, bool) {
	return strict.First(x.Claims, func(c Claim) bool { return c.ID == id })
}

// Holds tells whether the experiment has this claim of another of its designs
// unchanged: the same id and the same lock.
func (x *Experiment) Holds(of *Experiment, c Claim) bool {
	mine, ok := x.Claim(c.ID)
	return ok && x.Lock(mine) == of.Lock(c)
}

// Moved says how the experiment asks a claim of another of its versions
// otherwise than that version does, by the first field that differs; empty if it
// asks the same, whatever the design around it.
func (x *Experiment) Moved(of *Experiment, c Claim) string {
	mine, ok := x.Claim(c.ID)
	if !ok {
		return "it is gone"
	}
	was, now := c.bars().fields(), mine.bars().fields()
	for i := range was {
		if was[i] != now[i] {
			return fmt.Sprintf("%s, before %s", now[i], was[i])
		}
	}
	if x.Bars(mine) != of.Bars(c) {
		return "it was changed"
	}
	return ""
}

// fields writes each field of the bars as the experiment's file does.
func (b bars) fields() []string {
	number := func(v *float64) string {
		if v == nil {
			return "absent"
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	out := []string{
		"margin " + number(b.Margin), "at_least " + number(b.AtLeast), "at_most " + number(b.AtMost),
		fmt.Sprintf("plus %d", b.Plus), fmt.Sprintf("at %q", b.At.Key()),
		fmt.Sprintf("levels %q", strict.Called(b.Levels, setting.Level.String)),
		fmt.Sprintf("needs.line_rate %v", b.Needs.LineRate), fmt.Sprintf("needs.cores %d", b.Needs.Cores),
	}
	for _, f := range [][2]string{
		{"kind", string(b.Kind)}, {"metric", b.Metric}, {"over", b.Over}, {"bound", b.Bound}, {"equals", b.Equals},
		{"profile", b.Profile}, {"package", b.Package}, {"work", b.Work}, {"needs.bound", b.Needs.Bound}, {"about", b.About},
	} {
		out = append(out, fmt.Sprintf("%s %q", f[0], f[1]))
	}
	return out
}
