// Package flame makes of a profile what a page can draw: a tree of calls with
// the small branches folded, and a list of the symbols that cost most.
//
// Its stance: pruning loses names and never time. What is folded stands as
// "other" beside its siblings, so that every frame still is the sum of what is
// above it and of its own. Its limit: a sampled profile says where time went,
// not what would be saved if it went nowhere.
package flame

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// Version is the version of the tree's JSON form.
const Version = 1

// Other is the name of a frame that stands for several that were too small.
const Other = "other"

// topRows is how many symbols are listed: those below explain little, and the
// tree has what is left.
const topRows = 20

// A Tree is a profile as pages read it. Values are in base units, as in every
// data file: seconds, bytes, or a count.
type Tree struct {
	SchemaVersion int     `json:"schema_version"`
	Name          string  `json:"name"` // what was profiled, in words
	SampleType    string  `json:"sample_type"`
	Unit          string  `json:"unit"` // s, B or count
	Total         float64 `json:"total"`
	Samples       int64   `json:"samples,omitempty"`    // how often the profiler looked, where it says so
	DurationS     float64 `json:"duration_s,omitempty"` // how long it did
	Least         float64 `json:"least"`                // share of the total below which a frame is folded
	Depth         int     `json:"depth"`                // frames on the deepest path, the root among them
	Root          Node    `json:"root"`
	Top           []Row   `json:"top"`
}

// A Node is a symbol as called along one path. Its names are short because a
// page holds hundreds of them.
type Node struct {
	Symbol   string  `json:"n"`
	Group    Group   `json:"g"`
	Value    float64 `json:"v"` // its own and that of all it called
	Children []Node  `json:"c,omitempty"`
}

// A Row is a symbol over all paths that lead to it.
type Row struct {
	Symbol     string  `json:"n"`
	Group      Group   `json:"g"`
	Self       float64 `json:"self"`
	Cumulative float64 `json:"cum"`
}

// base units of pprof's units, with the factor to them.
var units = map[string]struct {
	name   string
	factor float64
}{
	"nanoseconds":  {"s", 1e-9},
	"microseconds": {"s", 1e-6},
	"milliseconds": {"s", 1e-3},
	"seconds":      {"s", 1},
	"bytes":        {"B", 1},
	"count":        {"count", 1},
}

// frame is a node while the samples are added up: whole numbers, in the
// profile's own unit, so that sums are exact.
type frame struct {
	symbol   string
	group    Group
	value    int64
	children map[string]*frame
}

func (f *frame) child(symbol string) *frame {
	c := f.children[symbol]
	if c == nil {
		c = &frame{symbol: symbol, group: GroupOf(symbol, f.group), children: map[string]*frame{}}
		f.children[symbol] = c
	}
	return c
}

// Prune gives the tree of one sample type, with frames below a share of the
// total folded into their parent's "other".
func Prune(p *profile.Profile, sampleType string, least float64) (Tree, error) {
	if least < 0 || least >= 1 {
		return Tree{}, fmt.Errorf("flame: least share %v; it is from 0 to less than 1", least)
	}
	at := slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == sampleType })
	if at < 0 {
		var names []string
		for _, t := range p.SampleType {
			names = append(names, t.Type)
		}
		return Tree{}, fmt.Errorf("flame: the profile has no sample type %q; it has %s", sampleType, strings.Join(names, ", "))
	}
	unit, ok := units[p.SampleType[at].Unit]
	if !ok {
		return Tree{}, fmt.Errorf("flame: %s is in %q, which has no base unit here", sampleType, p.SampleType[at].Unit)
	}

	root := &frame{symbol: "all", group: Rest, children: map[string]*frame{}}
	self, cumulative, groups := map[string]int64{}, map[string]int64{}, map[string]Group{}
	for _, s := range p.Sample {
		v := s.Value[at]
		if v < 0 {
			return Tree{}, errors.New("flame: a sample is negative, as in a difference of profiles; widths cannot show that")
		}
		if v == 0 {
			continue
		}
		root.value += v
		f := root
		seen := map[string]bool{}
		for _, symbol := range stack(s) {
			f = f.child(symbol)
			f.value += v
			// A symbol that calls itself is on the stack once, however deep.
			if !seen[symbol] {
				seen[symbol] = true
				cumulative[symbol] += v
			}
			if _, known := groups[symbol]; !known {
				groups[symbol] = f.group
			}
		}
		if f != root {
			self[f.symbol] += v
		}
	}
	if root.value == 0 {
		return Tree{}, fmt.Errorf("flame: no sample of %s", sampleType)
	}

	t := Tree{
		SchemaVersion: Version,
		SampleType:    sampleType,
		Unit:          unit.name,
		Total:         base(root.value, unit.factor),
		DurationS:     base(p.DurationNanos, 1e-9),
		Least:         least,
		Top:           []Row{},
	}
	for i, st := range p.SampleType {
		if st.Type == "samples" && st.Unit == "count" {
			for _, s := range p.Sample {
				t.Samples += s.Value[i]
			}
		}
	}
	t.Root = fold(root, least*float64(root.value), unit.factor)
	t.Depth = depth(t.Root)

	for symbol, c := range cumulative {
		t.Top = append(t.Top, Row{symbol, groups[symbol], base(self[symbol], unit.factor), base(c, unit.factor)})
	}
	slices.SortFunc(t.Top, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Cumulative, a.Cumulative), strings.Compare(a.Symbol, b.Symbol))
	})
	t.Top = t.Top[:min(len(t.Top), topRows)]
	return t, nil
}

// stack gives a sample's symbols from the outermost call to the innermost. A
// location has several where calls were inlined, innermost first.
func stack(s *profile.Sample) []string {
	var out []string
	for _, l := range slices.Backward(s.Location) {
		if len(l.Line) == 0 {
			out = append(out, "[no symbol]")
		}
		for _, line := range slices.Backward(l.Line) {
			if line.Function == nil || line.Function.Name == "" {
				out = append(out, "[no symbol]")
				continue
			}
			out = append(out, line.Function.Name)
		}
	}
	return out
}

// fold makes a node of a frame. Siblings are in the order of their names, so
// that two profiles of one program look alike, and what is folded comes last.
func fold(f *frame, least, factor float64) Node {
	n := Node{Symbol: f.symbol, Group: f.group, Value: base(f.value, factor)}
	var other int64
	for _, c := range f.children {
		if float64(c.value) < least {
			other += c.value
			continue
		}
		n.Children = append(n.Children, fold(c, least, factor))
	}
	slices.SortFunc(n.Children, func(a, b Node) int { return strings.Compare(a.Symbol, b.Symbol) })
	if other > 0 {
		n.Children = append(n.Children, Node{Symbol: Other, Group: Rest, Value: base(other, factor)})
	}
	return n
}

// base gives a value in its base unit, without the digits that a float64 adds
// to a tenth of a second.
func base(v int64, factor float64) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(float64(v)*factor, 'g', 12, 64), 64)
	if err != nil {
		panic(err) // it was formatted a moment ago
	}
	return f
}

func depth(n Node) int {
	d := 0
	for _, c := range n.Children {
		d = max(d, depth(c))
	}
	return d + 1
}
