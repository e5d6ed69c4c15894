package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Side is one of two profiles that are compared. Windows never have exactly
// the same length, so values are compared per second of window; profiles of
// moments have no length and are compared as means.
type Side struct {
	Profile *profile.Profile
	Moments int // number of profiles added up in it; 0 for a profile of a window
}

// A DiffTree is the difference of two profiles. Its frames are those of the
// first, so that what is gone shows where it was. Symbols that only the second
// has are part of their callers' difference, and are in the list.
type DiffTree struct {
	SchemaVersion int       `json:"schema_version"`
	Name          string    `json:"name"`
	Kind          string    `json:"kind"`
	Before        string    `json:"before"` // a condition's id in the run
	After         string    `json:"after"`
	Unit          string    `json:"unit"` // s/s or B/s; B or count for moments
	TotalBefore   float64   `json:"total_before"`
	TotalAfter    float64   `json:"total_after"`
	Least         float64   `json:"least"` // share of the first total below which a frame is folded
	Depth         int       `json:"depth"`
	Words         DiffWords `json:"words,omitzero"`
	Root          DiffNode  `json:"root"`
	Top           []DiffRow `json:"top"` // by the size of the change in either direction
}

// DiffWords are what a page writes of two trees that stand side by side, and of their
// difference.
type DiffWords struct {
	Before string      `json:"before"` // total
	After  string      `json:"after"`  // total
	Most   string      `json:"most"`   // the larger total, which fills the width
	Doc    string      `json:"doc"`    // the difference in sentences, for those who do not see it
	Scale  Scale       `json:"scale"`  // that of the larger total, for both
	Sides  []SideWords `json:"sides"`  // before, after
}

// SideWords are what a page writes of one of two trees.
type SideWords struct {
	Against string `json:"against,omitempty"` // "113 times less than", if it is the second
	// how many times smaller than the larger one, if less than half as large
	Magnified string   `json:"magnified,omitempty"`
	Self      []string `json:"self"` // of the tree's top symbols, on the scale of both
}

// A DiffNode is a symbol as called along one path.
type DiffNode struct {
	Symbol     string     `json:"n"`
	Group      Group      `json:"g"`
	Value      float64    `json:"v"`           // in the first profile, with everything it called
	Difference float64    `json:"d"`           // value in the second profile minus Value
	Became     string     `json:"w,omitempty"` // "1.20 to 0.03 s/s"
	Change     string     `json:"t,omitempty"` // "−98 %"
	Trend      Trend      `json:"k,omitempty"`
	Children   []DiffNode `json:"c,omitempty"`
}

// A DiffRow is a symbol with everything it called, over all paths that lead to
// it.
type DiffRow struct {
	Symbol string  `json:"n"`
	Group  Group   `json:"g"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	// The same as a page writes it, on the scale of both profiles.
	BeforeText string `json:"before_text,omitempty"`
	AfterText  string `json:"after_text,omitempty"`
	ChangeText string `json:"change_text,omitempty"`
	Relative   string `json:"relative,omitempty"`
}

// A Trend is what became of a frame, which its pattern shows.
type Trend string

// The trends.
const (
	Grew   Trend = "grew"   // by a tenth or more
	Shrank Trend = "shrank" // by a tenth or more
	Same   Trend = "same"
)

// Diff compares one sample type of two profiles. Frames below a share of the
// first total are folded, with their differences.
func Diff(before, after Side, sampleType string, least float64) (DiffTree, error) {
	if (before.Moments > 0) != (after.Moments > 0) {
		return DiffTree{}, errors.New("flame: a profile of a window and one of moments cannot be compared")
	}
	b, err := before.grow(sampleType)
	if err != nil {
		return DiffTree{}, fmt.Errorf("before: %w", err)
	}
	a, err := after.grow(sampleType)
	if err != nil {
		return DiffTree{}, fmt.Errorf("after: %w", err)
	}
	if a.unit != b.unit {
		return DiffTree{}, fmt.Errorf("flame: %s is in %s before and in %s after", sampleType, b.unit, a.unit)
	}

	t := DiffTree{
		SchemaVersion: TreeVersion,
		Unit:          b.unit,
		TotalBefore:   b.rate(b.root.value),
		TotalAfter:    a.rate(a.root.value),
		Least:         least,
		Top:           changed(b, a),
	}
	if before.Moments == 0 {
		t.Unit += "/s"
	}
	t.Root = compare(b, a, b.root, a.root, least*float64(b.root.value))
	t.Depth = depth(t.Root, func(n DiffNode) []DiffNode { return n.Children })
	return t, nil
}

// rated is a profile as frames, with the divisor of its values.
type rated struct {
	grown
	by *big.Rat // converts a sum to base units a second, or to base units of one moment
}

func (s Side) grow(sampleType string) (rated, error) {
	g, err := grow(s.Profile, sampleType)
	if err != nil {
		return rated{}, err
	}
	over := big.NewRat(int64(s.Moments), 1)
	if s.Moments == 0 {
		over = big.NewRat(s.Profile.DurationNanos, 1e9)
	}
	if over.Sign() <= 0 {
		return rated{}, errors.New("flame: the profile does not say how long its window was")
	}
	over.Mul(over, big.NewRat(g.per, 1))
	return rated{g, over.Inv(over)}, nil
}

func (r rated) exact(v int64) *big.Rat { return new(big.Rat).Mul(big.NewRat(v, 1), r.by) }
func (r rated) rate(v int64) float64   { return nearest(r.exact(v)) }

// difference is computed exactly, before rounding, so that equal rates differ
// by exactly 0.
func difference(b, a rated, before, after int64) *big.Rat {
	return new(big.Rat).Sub(a.exact(after), b.exact(before))
}

// nearest rounds a quotient to nine digits, as shares are.
func nearest(r *big.Rat) float64 {
	f, _ := r.Float64()
	return words.Significant(f, 9)
}

// compare makes a node of a frame of the first profile and the frame at the
// same path in the second, which is empty if it is gone.
func compare(b, a rated, f, then *frame, least float64) DiffNode {
	n := DiffNode{Symbol: f.symbol, Group: f.group, Value: b.rate(f.value),
		Difference: nearest(difference(b, a, f.value, then.value))}
	var other, became int64
	for _, c := range f.children {
		if float64(c.value) < least {
			other += c.value
			became += then.at(c.symbol).value
			continue
		}
		n.Children = append(n.Children, compare(b, a, c, then.at(c.symbol), least))
	}
	slices.SortFunc(n.Children, func(a, b DiffNode) int { return strings.Compare(a.Symbol, b.Symbol) })
	if other > 0 {
		n.Children = append(n.Children, DiffNode{Symbol: Other, Group: GroupRest, Value: b.rate(other),
			Difference: nearest(difference(b, a, other, became))})
	}
	return n
}

func (f *frame) at(name string) *frame {
	if c := f.children[name]; c != nil {
		return c
	}
	return &frame{}
}

// changed lists the symbols that changed most, whichever profile they are in.
func changed(b, a rated) []DiffRow {
	type change struct {
		row  DiffRow
		size *big.Rat
	}
	groups := maps.Clone(a.groups)
	maps.Copy(groups, b.groups)
	var all []change
	for name, group := range groups {
		d := difference(b, a, b.cumulative[name], a.cumulative[name])
		if d.Sign() != 0 {
			all = append(all, change{DiffRow{Symbol: name, Group: group, Before: b.rate(b.cumulative[name]),
				After: a.rate(a.cumulative[name])}, d.Abs(d)})
		}
	}
	slices.SortFunc(all, func(x, y change) int {
		return cmp.Or(y.size.Cmp(x.size), strings.Compare(x.row.Symbol, y.row.Symbol))
	})
	rows := []DiffRow{}
	for _, c := range all[:min(len(all), topRows)] {
		rows = append(rows, c.row)
	}
	return rows
}
