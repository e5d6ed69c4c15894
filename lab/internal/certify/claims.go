// Package certify makes claims of a published table's rates, says what a measurement here tells of them, and
// keeps both as a certificate.
//
// A claim needs no absolute figure: one server answers more requests a second than another, or one server's
// rate rises, falls or stays over connections or pipelining, whatever values the printed figures stand for. It
// is reproduced only if each of its steps is shown: where the client was the wall, or a control did not agree
// with itself, it is open. All steps share one error.
//
// A certificate that fits itself may be made up all the same: its number tells only those who noted it whether it
// was changed.
package certify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Margin is how far rates may lie apart that are flat.
const Margin = 0.03

// What rates do from one condition to the next.
const (
	Rises = "rises"
	Falls = "falls"
	Flat  = "flat"
)

// The verdicts on a claim.
const (
	Reproduced   = string(verdict.Reproduced)
	Refuted      = string(verdict.Refuted)
	Inconclusive = string(verdict.Inconclusive)
)

const server = setting.Server

// loads are the factors of a load, and usual are their levels where a table says nothing, as in linerate compare.
var (
	loads = [2]string{setting.Connections, setting.Pipelining}
	usual = [2]int{32, 1}
)

// A Claim is that rates rise, fall or stay over conditions.
type Claim struct {
	Kind    string         `json:"kind"`
	Over    string         `json:"over"`             // server, connections or pipelining
	Of      []string       `json:"of"`               // the conditions, in the order in which they are compared
	Levels  []int          `json:"levels,omitempty"` // of connections or pipelining
	Row     string         `json:"row,omitempty"`    // what the rows have in common
	Printed []law.Quantity `json:"printed_rps"`      // by condition, with the values for which it stands
	Verdict string         `json:"verdict"`
	Says    string         `json:"says"`
}

// An At is of which server and load a row is. What the table does not say of the load is 0.
type At struct {
	Server, Rest string
	Load         [2]int // connections and pipelining
}

// A Row is one with a rate.
type Row struct {
	At
	Rate law.Quantity
}

// RowOf reads a row of a table; false if it has no rate.
func RowOf(name string, row *law.Row) (Row, bool) {
	rate, ok := row.Get(law.Rate)
	server, rest, _ := strings.Cut(strings.Join(strings.Fields(name), " "), " ")
	connections, _ := row.Get(law.Connections)
	depth, _ := row.Get(law.Depth)
	return Row{At{server, rest, [2]int{int(connections.Value), int(depth.Value)}}, rate}, ok && rate.Low > 0 && server != ""
}

// Claims are what is to be measured of a table.
type Claims struct {
	All        []Claim
	Notes      []string // what is not claimed, and why
	Conditions []Condition

	rows   []Row
	over   int // which of loads differ; -1: none
	levels []int
}

// A Condition is a server under a load.
type Condition struct {
	Name, Server            string
	Connections, Pipelining int
	Base                    int // the condition with which it is compared
}

// Of makes claims of rows, for servers. The loads are those of the first server's rows that differ from its
// first in connections alone, or else in pipelining alone: the least, the greatest and one between.
func Of(rows []Row, servers []string) (*Claims, error) {
	first := slices.IndexFunc(rows, func(r Row) bool { return r.Server == servers[0] })
	if first < 0 {
		return nil, fmt.Errorf("no row with a rate is called %q", servers[0])
	}
	c, at := &Claims{rows: rows, over: -1}, rows[first].At
	for over, name := range loads {
		if levels := levels(rows, at, over); len(levels) > 1 && c.over >= 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("rows of %s that differ in %s are left out", at.Server, name))
		} else if len(levels) > 1 {
			c.over, c.levels = over, levels
		}
	}
	if c.over < 0 && len(servers) == 1 {
		return nil, fmt.Errorf("%s has no two rows that differ in connections or pipelining alone; name a second server", at.Server)
	}
	for _, name := range servers {
		var all []At
		for _, level := range c.levels {
			all = append(all, at.with(name, c.over, level))
		}
		if all != nil {
			c.claim(all)
		}
	}
	if c.All == nil { // one load is enough
		c.over, c.levels = -1, []int{0}
	}
	at = at.with(at.Server, c.over, c.levels[0])
	for _, name := range servers[1:] {
		if !c.claim([]At{at, at.with(name, -1, 0)}) {
			return nil, fmt.Errorf("no row %q is like that of %q: %s, %d connections", name, at.Server, at.Rest,
				cmp.Or(at.Load[0], usual[0]))
		}
	}
	if c.All == nil {
		return nil, fmt.Errorf("nothing can be measured: %s", strings.Join(c.Notes, "; "))
	}
	for _, name := range servers {
		for _, level := range c.levels {
			at := at.with(name, c.over, level)
			of := Condition{c.name(at), name, cmp.Or(at.Load[0], usual[0]), cmp.Or(at.Load[1], usual[1]), 0}
			for _, one := range c.All {
				if n := slices.Index(one.Of, of.Name); n > 0 {
					of.Base = slices.IndexFunc(c.Conditions, func(c Condition) bool { return c.Name == one.Of[one.base(n)] })
				}
			}
			c.Conditions = append(c.Conditions, of)
		}
	}
	return c, nil
}

// with is a row's place with another server and level.
func (a At) with(server string, over, level int) At {
	if a.Server = server; over >= 0 {
		a.Load[over] = level
	}
	return a
}

func levels(rows []Row, like At, over int) (all []int) {
	for _, r := range rows {
		if level := r.Load[over]; level > 0 && r.At == like.with(like.Server, over, level) {
			all = append(all, level)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 3 {
		all = []int{all[0], all[len(all)/2], all[len(all)-1]}
	}
	return all
}

// name is what a condition is called.
func (c *Claims) name(at At) string {
	name := at.Server
	if c.over >= 0 {
		name += fmt.Sprintf("@%d", cmp.Or(at.Load[0], usual[0]))
	}
	if c.over == 1 {
		name += fmt.Sprintf("x%d", at.Load[1])
	}
	return name
}

// claim adds what the rows at some places say, if anything; false if one has no row.
func (c *Claims) claim(all []At) bool {
	of := Claim{Over: server}
	if all[0].Server == all[1].Server {
		of.Over, of.Levels = loads[c.over], c.levels
	}
	for _, at := range all {
		r, there := strict.First(c.rows, func(r Row) bool { return r.At == at })
		if !there {
			return false
		}
		of.Row, of.Of, of.Printed = at.Rest, append(of.Of, c.name(at)), append(of.Printed, r.Rate.Rounded())
	}
	if of.Kind = shape(of.Printed); of.Kind != "" {
		c.All = append(c.All, of)
	} else {
		c.Notes = append(c.Notes, fmt.Sprintf("the rates of %s neither rise nor fall nor stay, as printed", words.List(of.Of)))
	}
	return true
}

// shape is what rates do; empty if that is none of three for all values for which they stand. A step within the
// margin is no rise: whoever printed it may not have meant it.
func shape(rates []law.Quantity) string {
	flat, rises, falls := true, true, true
	for i, r := range rates[1:] {
		ratio, err := r.Over(rates[0])
		flat = flat && err == nil && ratio.Low >= 1/(1+Margin) && ratio.High <= 1+Margin
		rises, falls = rises && r.Low > rates[i].High*(1+Margin), falls && r.High*(1+Margin) < rates[i].Low
	}
	return map[bool]string{flat: Flat, !flat && rises: Rises, !flat && falls: Falls}[true]
}

// base is which of a claim's conditions another is held against.
func (c *Claim) base(i int) int {
	if c.Kind == Flat {
		return 0
	}
	return i - 1
}

// Text is a claim in words.
func (c *Claim) Text() string {
	who := strict.Called(c.Of, func(of string) string { name, _, _ := strings.Cut(of, "@"); return name })
	levels, with := strict.Called(c.Levels, words.Thousands), "connections"
	if c.Over == loads[1] {
		with = "requests in flight on each connection"
	}
	how := fmt.Sprintf("as many requests a second, within %.0f %%,", 100*Margin)
	if c.Kind != Flat {
		how = map[string]string{Rises: "more", Falls: "fewer"}[c.Kind] + " requests a second"
	}
	switch {
	case c.Over == server && c.Kind == Flat:
		return fmt.Sprintf("%s answers %s as %s", who[1], how, who[0])
	case c.Over == server:
		return fmt.Sprintf("%s answers %s than %s", who[1], how, who[0])
	case c.Kind == Flat:
		return fmt.Sprintf("%s answers %s with %s %s", who[0], how, words.List(levels), with)
	}
	return fmt.Sprintf("%s answers %s with more %s, from %s", who[0], how, with, strings.Join(levels, " to "))
}

// Experiment gives the claims in the lab's words. id names a condition's server in the design.
func (c *Claims) Experiment(id func(condition int) string) (all []experiment.Claim) {
	of := func(name string) string {
		return id(slices.IndexFunc(c.Conditions, func(c Condition) bool { return c.Name == name }))
	}
	for n, claim := range c.All {
		margin, bar := Margin, 1.0
		x := experiment.Claim{ID: fmt.Sprintf("claim-%d", n+1), Kind: experiment.Ratio, Metric: "throughput_rps", Over: claim.Over,
			Text: claim.Text() + ".", Why: "The table says so, and no absolute figure is needed."}
		for i, name := range claim.Of {
			if x.Levels = append(x.Levels, of(name)); claim.Over != server {
				x.Levels[i] = claim.Levels[i]
			}
		}
		if claim.Over == server && c.over >= 0 {
			x.At = map[string]any{loads[c.over]: c.levels[0]}
		} else if claim.Over != server && len(c.Conditions) > len(c.levels) {
			x.At = map[string]any{server: of(claim.Of[0])}
		}
		switch {
		case claim.Kind == Flat:
			x.Kind, x.Margin = experiment.Flat, &margin
		case claim.Over != server:
			if margin, x.Kind, x.Margin = 0, experiment.Monotonic, &margin; claim.Kind == Falls {
				slices.Reverse(x.Levels)
			}
		case claim.Kind == Rises:
			x.AtLeast = &bar
		default:
			x.AtMost = &bar
		}
		all = append(all, x)
	}
	return all
}

// Judge says what came of a claim.
func (c *Claim) Judge(made *compare.Outcome) {
	if c.Verdict, c.Says = Inconclusive, "it compares nothing"; len(c.Of) < 2 {
		return
	}
	var told []string
	c.Verdict = Reproduced
	for i := 1; i < len(c.Of); i++ {
		verdict, says := c.step(made, i, c.base(i))
		if told = append(told, says); verdict == Refuted || verdict == Inconclusive && c.Verdict == Reproduced {
			c.Verdict = verdict
		}
	}
	c.Says = c.Text() + ": " + strings.Join(told, "; ")
}

// step says what came of one step of a claim. A ratio of throughputs tells of the servers only where the
// client was not the wall.
func (c *Claim) step(made *compare.Outcome, i, b int) (verdict, says string) {
	name, base := c.Of[i], c.Of[b]
	of, _ := strict.First(made.Comparisons, func(of compare.Comparison) bool { return of.Name == name && of.Base == base })
	r := of.Throughput
	if r == nil {
		return Inconclusive, fmt.Sprintf("of %s over %s nothing is known", name, base)
	}
	says = fmt.Sprintf("%s over %s is here %s, and in the table × %.4g", name, base, r, c.Printed[i].Value/c.Printed[b].Value)
	both := strict.Those(made.Servers, func(m compare.Measured) bool { return m.Name == name || m.Name == base })
	low, high := 1/(1+Margin), 1+Margin
	switch {
	case len(both) != 2 || slices.ContainsFunc(both, func(m compare.Measured) bool { return strings.Contains(m.Bound, "client") }):
		return Inconclusive, says + "; but the client was the wall, so that tells nothing of the servers"
	case of.Verdict == compare.Invalid || made.Differs || of.NeverSteady || of.Evidence != nil && !of.Evidence.Agreed:
		return Inconclusive, says + "; but that decides nothing: " + of.Says
	case !r.Known():
	case c.Kind == Flat && r.Low >= low && r.High <= high, c.Kind == Rises && r.Low > 1, c.Kind == Falls && r.High < 1:
		return Reproduced, says
	case c.Kind == Flat && (r.High < low || r.Low > high), c.Kind == Rises && r.High < 1, c.Kind == Falls && r.Low > 1:
		return Refuted, says
	}
	return Inconclusive, says
}
