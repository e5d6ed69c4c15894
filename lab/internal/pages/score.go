package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Whose tells whose claims are: the series' or another text's that the journal tests, the lab's
// controls of itself, its checks of arithmetic, or else the journal's own.
type Whose string

// Those that a claim can be of.
const (
	Series  Whose = "series"
	Control Whose = "control"
	Check   Whose = "check"
	Own     Whose = "journal"
)

// A Tally counts the verdicts on the claims of one owner, over the records of all machines.
type Tally struct {
	Whose  Whose     `json:"whose"`
	Title  string    `json:"title"` // as "44 claims of others"
	Bar    string    `json:"bar"`   // the parts as SVG rectangles, that end at a wall
	Counts []Counted `json:"counts"`
}

// A Counted is how often a verdict was found.
type Counted struct {
	Verdict verdict.Verdict `json:"verdict"`
	N       int             `json:"n"`
}

// Score is what the home page sums up.
type Score struct {
	Title   string  `json:"title"` // as "229 verdicts from 2 machines, on 199 claims"
	Tallies []Tally `json:"tallies"`
}

// order is that of verdicts in a tally.
var order = []verdict.Verdict{verdict.Confirmed, verdict.Refuted, verdict.Open, verdict.NotApplicable}

// Score counts the ledger's verdicts, by whose the claims are.
func (l *Ledger) Score() Score {
	titles := []struct {
		whose     Whose
		one, many string
	}{
		{Series, "claim of a text that the journal tests", "claims of texts that the journal tests"},
		{Own, "claim of the journal’s own", "claims of the journal’s own"},
		{Control, "control of the lab itself", "controls of the lab itself"},
		{Check, "check of arithmetic, which is no finding", "checks of arithmetic, which are no findings"},
	}
	out, verdicts, machines := Score{}, 0, map[string]bool{}
	for _, of := range titles {
		claims, n := 0, map[verdict.Verdict]int{}
		for _, c := range l.Claims {
			if c.Whose != of.whose {
				continue
			}
			claims++
			for _, m := range c.Machines {
				machines[m.Host] = true
				n[m.Verdict]++
				verdicts++
			}
		}
		if claims == 0 {
			continue
		}
		t := Tally{Whose: of.whose, Title: words.Count(claims, of.one, of.many)}
		t.Counts = strict.Map(order, func(v verdict.Verdict) Counted { return Counted{v, n[v]} })
		t.Bar = bar(t.Counts)
		out.Tallies = append(out.Tallies, t)
	}
	if verdicts > 0 {
		out.Title = fmt.Sprintf("%s from %s, on %s", words.Count(verdicts, "verdict", "verdicts"),
			words.Count(len(machines), "machine", "machines"), words.Count(len(l.Claims), "claim", "claims"))
	}
	return out
}

// bar draws counts as parts of a bar that ends at a wall, as the journal's sign does.
func bar(counts []Counted) string {
	const width = 344
	all := 0
	for _, c := range counts {
		all += c.N
	}
	var b strings.Builder
	x := 0.0
	for _, c := range slices.DeleteFunc(slices.Clone(counts), func(c Counted) bool { return c.N == 0 }) {
		w := math.Round(width * float64(c.N) / float64(all))
		fmt.Fprintf(&b, `<rect class="part-%s" x="%g" y="5" width="%g" height="16"/>`, c.Verdict, x, max(1, w-1))
		x += w
	}
	return b.String()
}
