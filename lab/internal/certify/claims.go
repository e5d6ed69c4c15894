// Package certify makes claims of a published table's rates, says what a measurement here tells of them, and
// keeps both as a certificate.
//
// A claim needs no absolute figure: one server answers more requests a second than another, or one server's
// rate rises, falls or stays over connections or over requests in flight. What it says is read off the ranges
// for which printed figures stand. A verdict is for the table only where each step of the claim is shown: a
// client that was the wall, a control that differed from itself, or an interval that leaves it open, is
// inconclusive. Each step has its own interval, all of which share one error.
//
// A certificate holds no more than was measured. Its number tells it from any other and shows that it was not
// changed since; it does not show that anybody measured it.
package certify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
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

// The factors over which a claim compares.
const (
	Server      = "server"
	Connections = "connections"
	Pipelining  = "pipelining"
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

// The verdicts on a claim.
const (
	Reproduced   = "reproduced"
	Refuted      = "refuted"
	Inconclusive = "inconclusive"
)

// A Row is one with a rate. What the table does not say is 0.
type Row struct {
	Server, Rest            string
	Rate                    law.Quantity
	Connections, Pipelining int
}

// RowOf reads a row of a table; false if it has no rate.
func RowOf(name string, row *law.Row) (Row, bool) {
	rate, ok := row.Get(law.Rate)
	words := strings.Fields(name)
	if !ok || rate.Low <= 0 || len(words) == 0 {
		return Row{}, false
	}
	at := func(f law.Figure) int { q, _ := row.Get(f); return int(q.Value) }
	return Row{words[0], strings.Join(words[1:], " "), rate, at(law.Connections), at(law.Depth)}, true
}

// under is the row with another level of a factor; without one, the row itself.
func (r Row) under(over string, level int) Row {
	switch over {
	case Connections:
		r.Connections = level
	case Pipelining:
		r.Pipelining = level
	}
	return r
}

// Claims are what is to be measured of a table.
type Claims struct {
	All                     []Claim
	Notes                   []string // what is not claimed, and why
	Over                    string   // connections or pipelining; empty: all servers have one load
	Levels                  []int    // of that, rising
	Connections, Pipelining int      // of the first row
}

// What a table that says nothing of its load is taken to mean, as in linerate compare.
const (
	usualConnections = 32
	usualPipelining  = 1
)

// Of makes claims of rows, for servers. Of the first server's rows, those that differ from its first in
// connections alone, or else in pipelining alone, are the loads: the least, the greatest and one between.
func Of(rows []Row, servers []string) (*Claims, error) {
	first := slices.IndexFunc(rows, func(r Row) bool { return r.Server == servers[0] })
	if first < 0 {
		return nil, fmt.Errorf("no row with a rate is called %q", servers[0])
	}
	like := rows[first]
	c := &Claims{Connections: cmp.Or(like.Connections, usualConnections), Pipelining: cmp.Or(like.Pipelining, usualPipelining)}
	find := func(name, over string, level int) (Row, bool) {
		want := like.under(over, level)
		return strict.First(rows, func(r Row) bool {
			return r.Server == name && r.Rest == want.Rest && r.Connections == want.Connections && r.Pipelining == want.Pipelining
		})
	}
	for _, over := range []string{Connections, Pipelining} {
		levels := levels(rows, like, over)
		if len(levels) > 1 && c.Over != "" {
			c.Notes = append(c.Notes, fmt.Sprintf("rows of %s that differ in %s are left out, as others differ in %s", like.Server, over, c.Over))
		} else if len(levels) > 1 {
			c.Over, c.Levels = over, levels
		}
	}
	if c.Over == "" && len(servers) == 1 {
		return nil, fmt.Errorf("%s has no two rows that differ in connections or in pipelining alone; name a second server", like.Server)
	}
	for _, name := range servers {
		of := Claim{Over: c.Over, Levels: c.Levels}
		var found []Row
		for _, level := range c.Levels {
			of.Of = append(of.Of, c.Name(name, level))
			if r, there := find(name, c.Over, level); there {
				found = append(found, r)
			}
		}
		if len(found) > 1 && len(found) == len(c.Levels) {
			c.add(of, found)
		}
	}
	if c.All == nil { // one load is enough
		c.Over, c.Levels = "", nil
	} else {
		like = like.under(c.Over, c.Levels[0])
	}
	for _, name := range servers[1:] {
		base, _ := find(servers[0], "", 0)
		other, there := find(name, "", 0)
		if !there {
			return nil, fmt.Errorf("no row %q is like that of %q: %s, %d connections", name, like.Server, like.Rest,
				cmp.Or(like.Connections, usualConnections))
		}
		of := Claim{Over: Server, Of: []string{servers[0], name}}
		if c.Over != "" {
			of.Of = []string{c.Name(servers[0], c.Levels[0]), c.Name(name, c.Levels[0])}
		}
		c.add(of, []Row{base, other})
	}
	if len(c.All) == 0 {
		return nil, fmt.Errorf("nothing can be measured: %s", strings.Join(c.Notes, "; "))
	}
	return c, nil
}

// levels are those of a factor in the rows that differ from one in it alone, rising: the least, the greatest
// and one between.
func levels(rows []Row, like Row, over string) (all []int) {
	for _, r := range rows {
		level := map[string]int{Connections: r.Connections, Pipelining: r.Pipelining}[over]
		same := like.under(over, level)
		if level > 0 && r.Server == like.Server && r.Rest == same.Rest && r.Connections == same.Connections && r.Pipelining == same.Pipelining {
			all = append(all, level)
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > 3 {
		all = []int{all[0], all[len(all)/2], all[len(all)-1]}
	}
	return all
}

// Name is what a server is called under a load.
func (c *Claims) Name(server string, level int) string {
	if c.Over == Pipelining {
		return fmt.Sprintf("%s@%dx%d", server, c.Connections, level)
	}
	return fmt.Sprintf("%s@%d", server, level)
}

// add adds a claim about rows, if they say something.
func (c *Claims) add(of Claim, rows []Row) {
	of.Row = rows[0].Rest
	for _, r := range rows {
		of.Printed = append(of.Printed, r.Rate.Rounded())
	}
	switch of.Kind = shape(of.Printed); {
	case of.Kind != "":
		c.All = append(c.All, of)
	case of.Over == Server:
		c.Notes = append(c.Notes, fmt.Sprintf("the rates of %s are alike, so the table says nothing of them", words.List(of.Of)))
	default:
		c.Notes = append(c.Notes, fmt.Sprintf("the rates of %s neither rise nor fall nor stay", words.List(of.Of)))
	}
}

// shape is what rates do from one to the next, whatever values within their ranges they stand for; empty if
// that is none of three.
func shape(rates []law.Quantity) string {
	steps := func(holds func(was, now law.Quantity) bool) bool {
		for i := range rates[1:] {
			if !holds(rates[i], rates[i+1]) {
				return false
			}
		}
		return true
	}
	switch {
	case !slices.ContainsFunc(rates[1:], func(r law.Quantity) bool {
		ratio, err := r.Over(rates[0])
		return err != nil || ratio.Low < 1/(1+Margin) || ratio.High > 1+Margin
	}):
		return Flat
	case steps(func(was, now law.Quantity) bool { return now.Low > was.High }):
		return Rises
	case steps(func(was, now law.Quantity) bool { return now.High < was.Low }):
		return Falls
	}
	return ""
}

// base is which of a claim's conditions another is held against.
func (c *Claim) base(i int) int {
	if c.Kind == Flat {
		return 0
	}
	return i - 1
}

// Base is the condition with which one has to be compared; false if no claim says.
func (c *Claims) Base(of string) (string, bool) {
	for _, one := range c.All {
		if i := slices.Index(one.Of, of); i > 0 {
			return one.Of[one.base(i)], true
		}
	}
	return "", false
}

// Text is a claim in words.
func (c *Claim) Text() string {
	who := strict.Called(c.Of, func(of string) string { name, _, _ := strings.Cut(of, "@"); return name })
	how := map[string]string{Rises: "more requests a second", Falls: "fewer requests a second",
		Flat: fmt.Sprintf("as many requests a second, within %.0f %%,", 100*Margin)}[c.Kind]
	if c.Over == Server {
		return fmt.Sprintf("%s answers %s %s %s", who[1], how, map[bool]string{true: "as", false: "than"}[c.Kind == Flat], who[0])
	}
	with := "connections"
	if c.Over == Pipelining {
		with = "requests in flight on each connection"
	}
	levels := strict.Called(c.Levels, func(n int) string { return words.Thousands(n) })
	if c.Kind == Flat {
		return fmt.Sprintf("%s answers %s with %s %s", who[0], how, words.List(levels), with)
	}
	return fmt.Sprintf("%s answers %s with more %s, from %s", who[0], how, with, strings.Join(levels, " to "))
}

// Experiment is a claim in the lab's words. id names a condition's server in the design.
func (c *Claim) Experiment(n int, id func(condition string) string) experiment.Claim {
	margin, one := Margin, 1.0
	of := experiment.Claim{ID: fmt.Sprintf("claim-%d", n+1), Metric: "throughput_rps", Over: c.Over, Text: c.Text() + ".",
		Why: "The table says so, and no absolute figure is needed."}
	for i, condition := range c.Of {
		if c.Over == Server {
			of.Levels = append(of.Levels, id(condition))
		} else {
			of.Levels = append(of.Levels, c.Levels[i])
		}
	}
	switch {
	case c.Kind == Flat:
		of.Kind, of.Margin = experiment.Flat, &margin
	case c.Over != Server:
		none := 0.0
		if of.Kind, of.Margin = experiment.Monotonic, &none; c.Kind == Falls {
			slices.Reverse(of.Levels)
		}
	case c.Kind == Rises:
		of.Kind, of.AtLeast = experiment.Ratio, &one
	default:
		of.Kind, of.AtMost = experiment.Ratio, &one
	}
	return of
}

// Judge says what came of a claim.
func (c *Claim) Judge(made *compare.Outcome) {
	if c.Verdict, c.Says = Inconclusive, "it compares nothing"; len(c.Of) < 2 {
		return
	}
	var told []string
	c.Verdict = Reproduced
	for i := 1; i < len(c.Of); i++ {
		verdict, says := c.step(made, c.Of[i], c.Of[c.base(i)])
		if told = append(told, says); verdict == Refuted || verdict == Inconclusive && c.Verdict == Reproduced {
			c.Verdict = verdict
		}
	}
	c.Says = c.Text() + ": " + strings.Join(told, "; ")
}

// step says what came of one step of a claim. A ratio of throughputs tells of the servers only where the
// client was not the wall.
func (c *Claim) step(made *compare.Outcome, name, base string) (verdict, says string) {
	verdict, says = Inconclusive, fmt.Sprintf("of %s over %s nothing is known", name, base)
	i := slices.IndexFunc(made.Comparisons, func(of compare.Comparison) bool { return of.Name == name && of.Base == base })
	if i < 0 || made.Comparisons[i].Throughput == nil {
		return verdict, says
	}
	of, r, printed := made.Comparisons[i], made.Comparisons[i].Throughput, c.Printed
	says = fmt.Sprintf("%s over %s is here %s, and in the table × %.4g", name, base, r,
		printed[slices.Index(c.Of, name)].Value/printed[slices.Index(c.Of, base)].Value)
	both := strict.Those(made.Servers, func(m compare.Measured) bool { return m.Name == name || m.Name == base })
	walled := slices.ContainsFunc(both, func(m compare.Measured) bool { return strings.Contains(m.Bound, "client") })
	switch low, high := 1/(1+Margin), 1+Margin; {
	case walled || len(both) != 2:
		return verdict, says + "; but the client was the wall, so that tells nothing of the servers"
	case of.Verdict == compare.Invalid:
		return verdict, says + "; but trials were refused: " + of.Says
	case made.Differs || of.NeverSteady || of.Evidence != nil && !of.Evidence.Agreed:
		return verdict, says + "; but a server measured twice did not agree with itself, or one was never steady"
	case !r.Known():
	case c.Kind == Flat && r.Low >= low && r.High <= high, c.Kind == Rises && r.Low > 1, c.Kind == Falls && r.High < 1:
		verdict = Reproduced
	case c.Kind == Flat && (r.High < low || r.Low > high), c.Kind == Rises && r.High < 1, c.Kind == Falls && r.Low > 1:
		verdict = Refuted
	}
	return verdict, says
}
