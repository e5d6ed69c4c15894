package pages

import (
	"reflect"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func blocked(total float64, top ...profiles.Row) profiles.Tree {
	return profiles.Tree{Kind: "block", Unit: "s", Trials: 3, Total: total, Over: 4, Parked: total / 4, Profiler: 0.02,
		Top: top}
}

func TestATreeIsToldByTheSecond(t *testing.T) {
	tree := blocked(8, profiles.Row{Symbol: "lock", Self: 6, Cumulative: 7}, profiles.Row{Symbol: "serve", Cumulative: 8})
	Tell(&tree, setting.Levels{"connections": setting.Int(64), "index": setting.String("pool")}, "index")
	want := profiles.Words{
		Condition: "Index pool, connections 64",
		Total:     "2 s a second of time blocked, so 2 goroutines parked on average",
		Over:      "over 4\u00a0s in all, 3 trials",
		Profiler:  "5 ms a second",
		Scale:     profiles.Scale{Factor: 1, Unit: "s/s", Digits: 3},
	}
	if tree.Words != want {
		t.Errorf("%+v, want %+v", tree.Words, want)
	}
	if r := tree.Top[0]; r.SelfText != "1.500" || r.SelfShare != "75.0" || r.CumulativeShare != "87.5" {
		t.Errorf("%+v", r)
	}
	// It has no cost of its own, so it is in no table of the costliest.
	if r := tree.Top[1]; r.SelfText != "" || r.SelfShare != "" {
		t.Errorf("%+v", r)
	}
}

func TestATableHasTenSymbols(t *testing.T) {
	tree := blocked(48, slices.Repeat([]profiles.Row{{Self: 4, Cumulative: 4}}, 12)...)
	Tell(&tree, nil, "")
	if tree.Top[9].SelfText != "1.00" || tree.Top[10].SelfText != "" {
		t.Errorf("%+v", tree.Top)
	}
}

func TestATreeOfMomentsIsTheirMean(t *testing.T) {
	tree := profiles.Tree{Kind: "goroutine", Unit: "count", Trials: 4, Total: 446, Over: 4}
	Tell(&tree, nil, "")
	if w := tree.Words; w.Total != "112 goroutines" || w.Over != "mean of a moment in each of 4 trials" ||
		w.Profiler != "" {
		t.Errorf("%+v", w)
	}
	tree = profiles.Tree{Kind: "heap", Unit: "B", Trials: 2, Total: 3 << 20, Over: 2}
	Tell(&tree, nil, "")
	if got := tree.Words.Total; got != "1.57 MB of live memory" {
		t.Errorf("%q", got)
	}
}

func TestNothingIsToldOfATreeWithoutItsLength(t *testing.T) {
	tree := profiles.Tree{Kind: "cpu", Unit: "s", Total: 3}
	Tell(&tree, nil, "")
	if tree.Words != (profiles.Words{}) {
		t.Errorf("%+v", tree.Words)
	}
	empty := blocked(0)
	Tell(&empty, nil, "")
	if empty.Words.Total != "no sample" {
		t.Errorf("without a sample: %q", empty.Words.Total)
	}
}

func TestADifferenceIsToldOnOneScale(t *testing.T) {
	before := blocked(8, profiles.Row{Symbol: "lock", Self: 8, Cumulative: 8})
	after := blocked(0.0712, profiles.Row{Symbol: "lock", Self: 0.0712, Cumulative: 0.0712},
		profiles.Row{Symbol: "serve", Cumulative: 0.0712})
	d := profiles.DiffTree{
		Kind: "block", Unit: "s/s", TotalBefore: 2, TotalAfter: 0.0178,
		Root: profiles.DiffNode{Symbol: "all", Value: 2, Difference: -1.9822, Children: []profiles.DiffNode{
			{Symbol: "same", Value: 0.01, Difference: 0.0009}, {Symbol: "grew", Value: 0.01, Difference: 0.001},
			{Symbol: "gone", Value: 1.99, Difference: -1.99},
		}},
		Top: []profiles.DiffRow{{Symbol: "lock", Before: 2, After: 0.0178}, {Symbol: "equal", Before: 1, After: 1},
			{Symbol: "new", After: 0.5}, {Symbol: "gone", Before: 0.25}},
	}
	TellDifference(&d, before, after)
	want := profiles.DiffWords{
		Before: "2 s a second", After: "17.8 ms a second", Most: "2 s a second",
		Doc: "From 2 s a second to 17.8 ms a second. Most changed: lock from 2.000 to 0.018 s/s, equal from 1.000 to " +
			"1.000 s/s, new from 0.000 to 0.500 s/s, gone from 0.250 to 0.000 s/s. The table below has more.",
		Scale: profiles.Scale{Factor: 1, Unit: "s/s", Digits: 3},
		Sides: []profiles.SideWords{{Self: []string{"2.000"}},
			{Against: "112 times less than", Magnified: "112", Self: []string{"0.018"}}},
	}
	if !reflect.DeepEqual(d.Words, want) {
		t.Errorf("%+v, want %+v", d.Words, want)
	}
	for i, want := range [][4]string{{"2.000", "0.018", "−1.982", "−99 %"}, {}, {"none", "0.500", "+0.500", "new"},
		{"0.250", "none", "−0.250", "−100 %"}} {
		if r := d.Top[i]; [4]string{r.BeforeText, r.AfterText, r.ChangeText, r.Relative} != want {
			t.Errorf("%s: %+v, want %q", r.Symbol, r, want)
		}
	}
	frame := func(n profiles.DiffNode) [3]string { return [3]string{n.Became, n.Change, string(n.Trend)} }
	if got, want := frame(d.Root), [3]string{"2.000 to 0.018 s/s", "−99 %", "shrank"}; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i, want := range [][3]string{{"0.010 to 0.011 s/s", "+9 %", "same"}, {"0.010 to 0.011 s/s", "+10 %", "grew"},
		{"1.990 to 0.000 s/s", "−100 %", "shrank"}} {
		if got := frame(d.Root.Children[i]); got != want {
			t.Errorf("%s: %q, want %q", d.Root.Children[i].Symbol, got, want)
		}
	}
}

func TestASideThatIsHalfAsLargeOrMoreIsNotMagnified(t *testing.T) {
	d := profiles.DiffTree{Kind: "block", Unit: "s/s"}
	TellDifference(&d, blocked(4), blocked(8))
	if first, last := d.Words.Sides[0], d.Words.Sides[1]; first.Magnified != "" || first.Against != "" ||
		last.Magnified != "" || last.Against != "2.0 times more than" {
		t.Errorf("%+v", d.Words.Sides)
	}
	TellDifference(&d, blocked(0), blocked(8))
	if last := d.Words.Sides[1]; last.Against != "" || d.Words.Sides[0].Magnified != "" {
		t.Errorf("against nothing: %+v", d.Words.Sides)
	}
}
