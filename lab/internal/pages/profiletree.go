package pages

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// tableRows is how many symbols a page's table has; the file has more, without words.
const tableRows = 10

// shownRows are the symbols of a page's table: those with a cost of their own.
func shownRows(top []profiles.Row) []profiles.Row {
	n := 0
	for n < len(top) && n < tableRows && top[n].Self > 0 {
		n++
	}
	return top[:n]
}

// Tell fills in what pages write of a tree of profiles. The factor that its experiment
// compares comes first in the condition's name.
func Tell(t *profiles.Tree, levels setting.Levels, compared string) {
	if t.Over == 0 {
		return // the page says what is missing
	}
	kind := profiles.Kind(t.Kind)
	rate := t.Total / t.Over
	scale, _ := scaleOf(kind, t.Unit, rate)
	t.Words = profiles.Words{Condition: conditionWords(levels, compared), Total: "no sample", Scale: scale}
	if t.Total > 0 {
		t.Words.Total = amount(kind, t.Unit, rate) + " of " + kind.Doc().Of
		if kind == profiles.Goroutine {
			t.Words.Total = amount(kind, t.Unit, rate) + " goroutines"
		}
		if kind == profiles.Block {
			t.Words.Total += fmt.Sprintf(", so %s goroutines parked on average", amount(kind, "count", t.Parked))
		}
	}
	t.Words.Over = fmt.Sprintf("mean of a moment in each of %d trials", t.Trials)
	if !kind.OfMoment() {
		t.Words.Over = fmt.Sprintf("over %s in all, %d trials", words.Figure("s", t.Over, nil, nil), t.Trials)
	}
	if t.Profiler > 0 {
		t.Words.Profiler = amount(kind, t.Unit, t.Profiler/t.Over)
	}
	for i := range shownRows(t.Top) {
		r := &t.Top[i]
		r.SelfText = onScale(scale, r.Self/t.Over, "")
		r.SelfShare = words.Grouped(100*r.Self/t.Total, -1)
		r.CumulativeShare = words.Grouped(100*r.Cumulative/t.Total, -1)
	}
}

// TellDifference fills in what pages write of two trees side by side, and of their
// difference.
func TellDifference(d *profiles.DiffTree, before, after profiles.Tree) {
	if before.Over == 0 || after.Over == 0 {
		return
	}
	kind := profiles.Kind(d.Kind)
	totals := []float64{before.Total / before.Over, after.Total / after.Over}
	largest := max(totals[0], totals[1])
	scale, _ := scaleOf(kind, before.Unit, largest)
	d.Words = profiles.DiffWords{
		Before: amount(kind, before.Unit, d.TotalBefore), After: amount(kind, before.Unit, d.TotalAfter),
		Most: amount(kind, before.Unit, largest), Scale: scale,
	}
	for i, t := range []profiles.Tree{before, after} {
		side := profiles.SideWords{Self: []string{}}
		if v := totals[i]; v > 0 && v/largest < 0.5 {
			side.Magnified = words.Times(largest / v)
		}
		if i == 1 && totals[0] > 0 && totals[1] > 0 {
			side.Against = words.Against(totals[1], totals[0])
		}
		for _, r := range shownRows(t.Top) {
			side.Self = append(side.Self, onScale(scale, r.Self/t.Over, ""))
		}
		d.Words.Sides = append(d.Words.Sides, side)
	}
	var most []string
	rows := 0
	for i := range d.Top {
		r := &d.Top[i]
		if rows < tableRows && tellChange(r, scale) {
			rows++
		}
		if i < 5 {
			most = append(most, strings.TrimSpace(r.Symbol+" from "+became(scale, r.Before, r.After)))
		}
	}
	d.Words.Doc = fmt.Sprintf("From %s to %s. Most changed: %s. The table below has more.", d.Words.Before, d.Words.After,
		strings.Join(most, ", "))
	tellFrames(&d.Root, scale)
}

// became writes two values, the second without a sign that only rounding gave it.
func became(s profiles.Scale, before, after float64) string {
	return strings.TrimSpace(fmt.Sprintf("%.*f to %.*f %s", s.Digits, s.Factor*before, s.Digits, max(0, s.Factor*after),
		s.Unit))
}

// tellChange is false for a symbol whose figures are the same once rounded. It gets no
// words, and pages leave it out.
func tellChange(r *profiles.DiffRow, s profiles.Scale) bool {
	if r.Before == r.After {
		return false
	}
	r.BeforeText, r.AfterText, r.Relative = "none", "none", "new"
	if r.Before > 0 {
		r.BeforeText, r.Relative = onScale(s, r.Before, ""), words.Change(r.Before, r.After-r.Before)
	}
	if r.After > 0 {
		r.AfterText = onScale(s, r.After, "")
	}
	r.ChangeText = "+" + onScale(s, r.After-r.Before, "")
	if r.After < r.Before {
		r.ChangeText = "−" + onScale(s, r.Before-r.After, "")
	}
	return true
}

func tellFrames(n *profiles.DiffNode, s profiles.Scale) {
	if n.Value > 0 {
		n.Became = became(s, n.Value, n.Value+n.Difference)
		n.Change = words.Change(n.Value, n.Difference)
		switch change := n.Difference / n.Value; {
		case change >= 0.1:
			n.Trend = profiles.Grew
		case change <= -0.1:
			n.Trend = profiles.Shrank
		default:
			n.Trend = profiles.Same
		}
	}
	for i := range n.Children {
		tellFrames(&n.Children[i], s)
	}
}
