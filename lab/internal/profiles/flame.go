package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// TreeVersion is the version of the tree's JSON form.
const TreeVersion = 1

// Other is the name of a frame that stands for several that were too small.
const Other = "other"

// topRows is how many symbols are listed: those below explain little, and the
// tree has what is left.
const topRows = 20

// A Tree is a profile as pages read it. Values are in base units, as in every
// data file: seconds, bytes, or a count.
type Tree struct {
	SchemaVersion int         `json:"schema_version"`
	Name          string      `json:"name"` // what was profiled, in words
	Kind          string      `json:"kind,omitempty"`
	Condition     string      `json:"condition,omitempty"` // its id in the run
	Trials        int         `json:"trials,omitempty"`    // whose windows, or moments, are added up in it
	Raw           string      `json:"raw,omitempty"`       // what it was made of, from data/profiles
	SampleType    string      `json:"sample_type"`
	Unit          string      `json:"unit"` // s, B or count
	Total         float64     `json:"total"`
	Samples       int64       `json:"samples,omitempty"`    // how often the profiler looked, where it says so
	DurationS     float64     `json:"duration_s,omitempty"` // how long it did
	Parked        float64     `json:"parked,omitempty"`     // goroutines blocked on average: the total over the duration, of a block profile
	Work          []WorkShare `json:"work,omitempty"`       // most first
	Least         float64     `json:"least"`                // share of the total below which a frame is folded
	Depth         int         `json:"depth"`                // frames on the deepest path, the root among them
	Root          Node        `json:"root"`
	Top           []Row       `json:"top"`
}

// A WorkShare is how much of the total is of one kind of work. Groups are of
// symbols, and a frame's pattern shows one; work is of whole samples.
type WorkShare struct {
	Work  string  `json:"work"`
	Share float64 `json:"share"`
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

// frame is a node while the samples are added up: whole numbers, in the
// profile's own unit, so that sums are exact.
type frame struct {
	symbol   string
	group    Group
	value    int64
	children map[string]*frame
}

func (f *frame) child(name string) *frame {
	c := f.children[name]
	if c == nil {
		c = &frame{symbol: name, group: GroupOf(name, f.group), children: map[string]*frame{}}
		f.children[name] = c
	}
	return c
}

// grown is a profile as frames, with every symbol's sums over all paths.
type grown struct {
	root             *frame
	self, cumulative map[string]int64
	groups           map[string]Group // as where the symbol was first met
	unit             string
	per              int64 // of the profile's unit, in a base unit
}

// grow adds up the samples of one sample type.
func grow(p *profile.Profile, sampleType string) (grown, error) {
	col, err := FindColumn(p, sampleType)
	if err != nil {
		return grown{}, fmt.Errorf("flame: %w", err)
	}
	g := grown{
		root:       &frame{symbol: "all", group: GroupRest, children: map[string]*frame{}},
		self:       map[string]int64{},
		cumulative: map[string]int64{},
		groups:     map[string]Group{},
		unit:       col.Unit,
		per:        col.Per,
	}
	for _, s := range p.Sample {
		v := s.Value[col.At]
		if v < 0 {
			return grown{}, errors.New("flame: a sample is negative, as in a difference of profiles; widths cannot show that")
		}
		if v == 0 {
			continue
		}
		g.root.value += v
		f := g.root
		seen := map[string]bool{}
		for _, name := range StackOf(s) {
			f = f.child(name)
			f.value += v
			// A symbol that calls itself is on the stack once, however deep.
			if !seen[name] {
				seen[name] = true
				g.cumulative[name] += v
			}
			if _, known := g.groups[name]; !known {
				g.groups[name] = f.group
			}
		}
		if f != g.root {
			g.self[f.symbol] += v
		}
	}
	return g, nil
}

// checkLeast refuses a share below which nothing, or all, would be folded.
func checkLeast(least float64) error {
	if !(least >= 0 && least < 1) {
		return fmt.Errorf("flame: least share %v; it is from 0 to less than 1", least)
	}
	return nil
}

// Prune gives the tree of one sample type, with frames below a share of the
// total folded into their parent's "other". A profile without samples gives a
// root without width: that nothing waited for a lock is worth saying.
func Prune(p *profile.Profile, sampleType string, least float64) (Tree, error) {
	if err := checkLeast(least); err != nil {
		return Tree{}, err
	}
	g, err := grow(p, sampleType)
	if err != nil {
		return Tree{}, err
	}
	t := Tree{
		SchemaVersion: TreeVersion,
		SampleType:    sampleType,
		Unit:          g.unit,
		Total:         base(g.root.value, g.per),
		DurationS:     base(p.DurationNanos, 1e9),
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
	t.Root = fold(g.root, least*float64(g.root.value), g.per)
	t.Depth = depth(t.Root)

	t.Top = append(t.Top, g.rows(topRows, func(a, b Row) int { return cmp.Compare(b.Self, a.Self) })...)
	return t, nil
}

// Costliest lists the symbols with the most of one sample type on their paths.
// Samples without any symbol are left out.
func Costliest(p *profile.Profile, sampleType string, most int) ([]Row, error) {
	g, err := grow(p, sampleType)
	if err != nil {
		return nil, err
	}
	delete(g.cumulative, NoSymbol)
	return g.rows(most, func(Row, Row) int { return 0 }), nil
}

// rows are the symbols' sums: those that come first, then those that cost most, then
// by name.
func (g grown) rows(most int, first func(a, b Row) int) []Row {
	var rows []Row
	for name, c := range g.cumulative {
		rows = append(rows, Row{name, g.groups[name], base(g.self[name], g.per), base(c, g.per)})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(first(a, b), cmp.Compare(b.Cumulative, a.Cumulative), strings.Compare(a.Symbol, b.Symbol))
	})
	return rows[:min(len(rows), most)]
}

// fold makes a node of a frame. Siblings are in the order of their names, so
// that two profiles of one program look alike, and what is folded comes last.
func fold(f *frame, least float64, per int64) Node {
	n := Node{Symbol: f.symbol, Group: f.group, Value: base(f.value, per)}
	var other int64
	for _, c := range f.children {
		if float64(c.value) < least {
			other += c.value
			continue
		}
		n.Children = append(n.Children, fold(c, least, per))
	}
	slices.SortFunc(n.Children, func(a, b Node) int { return strings.Compare(a.Symbol, b.Symbol) })
	if other > 0 {
		n.Children = append(n.Children, Node{Symbol: Other, Group: GroupRest, Value: base(other, per)})
	}
	return n
}

// base gives a value in its base unit.
func base(v, per int64) float64 { return rounded(float64(v)/float64(per), 12) }

// rounded leaves out digits that nobody measured, such as those that a float64
// adds to a tenth of a second.
func rounded(v float64, digits int) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
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
