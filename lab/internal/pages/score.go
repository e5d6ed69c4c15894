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
// controls of itself, or else the journal's own.
type Whose string

// Those that a claim can be of.
const (
	Series  Whose = "series"
	Control Whose = "control"
	Own     Whose = "journal"
)

// Word is what pages and the terminal call a verdict on a claim: what holds is reproduced if others
// claimed it, and confirmed if the journal or its lab did.
func (w Whose) Word(v verdict.Verdict) string {
	if v == verdict.Reproduced && w != Series {
		return "confirmed"
	}
	return strings.ReplaceAll(string(v), "-", " ")
}

// A Called is a verdict with what pages call it, in counts of claims of several owners.
type Called struct {
	Verdict verdict.Verdict `json:"verdict"`
	Whose   Whose           `json:"whose"` // an owner of whose claims it is called so
	Word    string          `json:"word"`
}

// called has all that pages call verdicts, in the order of a tally.
func called() (out []Called) {
	for _, v := range order {
		for _, w := range []Whose{Series, Own} {
			if c := (Called{v, w, w.Word(v)}); len(out) == 0 || out[len(out)-1].Word != c.Word {
				out = append(out, c)
			}
		}
	}
	return out
}

// verdictWords has what pages call each verdict, by whose the claim is.
func verdictWords() map[Whose]map[verdict.Verdict]string {
	out := map[Whose]map[verdict.Verdict]string{}
	for _, w := range []Whose{Series, Own, Control} {
		out[w] = map[verdict.Verdict]string{}
		for _, v := range order {
			out[w][v] = w.Word(v)
		}
	}
	return out
}

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
var order = []verdict.Verdict{verdict.Reproduced, verdict.Refuted, verdict.Inconclusive, verdict.Invalid,
	verdict.NotApplicable}

// Score counts the ledger's verdicts, by whose the claims are.
func (l *Ledger) Score() Score {
	titles := []struct {
		whose     Whose
		one, many string
	}{
		{Series, "claim of a text that the journal tests", "claims of texts that the journal tests"},
		{Own, "claim of the journal’s own", "claims of the journal’s own"},
		{Control, "check of the lab itself", "checks of the lab itself"},
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
