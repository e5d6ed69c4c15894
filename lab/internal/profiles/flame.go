package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// TreeVersion is the version of the tree's JSON form.
const TreeVersion = 1

// Other is the name of a frame that sums several frames that were too small.
const Other = "other"

// topRows is how many symbols are listed. Those below explain little, and the
// tree has them.
const topRows = 20

// A Tree is a profile as pages read it. Values are in base units, as in every
// data file: seconds, bytes, or a count.
type Tree struct {
	SchemaVersion int     `json:"schema_version"`
	Name          string  `json:"name"` // what was profiled, in words
	Kind          string  `json:"kind,omitempty"`
	Condition     string  `json:"condition,omitempty"` // its id in the run
	Trials        int     `json:"trials,omitempty"`    // number of trials whose windows, or moments, are added up
	Raw           string  `json:"raw,omitempty"`       // raw profile it was made from, below data/profiles
	SampleType    string  `json:"sample_type"`
	Unit          string  `json:"unit"` // s, B or count
	Total         float64 `json:"total"`
	Samples       int64   `json:"samples,omitempty"`    // number of samples, if the profile has it
	DurationS     float64 `json:"duration_s,omitempty"` // length of the profile in seconds
	// what values are divided by to compare trees: seconds of window, or moments
	Over     float64 `json:"over,omitempty"`
	Profiler float64 `json:"profiler,omitempty"` // what taking the profiles added; it is in no other figure here
	// for a block profile: total over duration, the mean number of blocked goroutines
	Parked float64     `json:"parked,omitempty"`
	Work   []WorkShare `json:"work,omitempty"` // largest first
	Least  float64     `json:"least"`          // share of the total below which a frame is folded
	Depth  int         `json:"depth"`          // frames on the deepest path, including the root
	Words  Words       `json:"words,omitzero"`
	Root   Node        `json:"root"`
	Top    []Row       `json:"top"`
}

// Words are what a page writes of a tree, by the second or as the mean of moments.
type Words struct {
	Condition string `json:"condition"`          // "Index pool, connections 64"
	Total     string `json:"total"`              // "31.7 s a second of CPU time"
	Over      string `json:"over"`               // "over 21 s in all, 7 trials"
	Profiler  string `json:"profiler,omitempty"` // what taking the profiles added
	Scale     Scale  `json:"scale"`
}

// A Scale is how the values of a table and a drawing are written, so that they can be
// compared: all in one unit, with the same digits after the point.
type Scale struct {
	Factor float64 `json:"factor"` // from base units by the second, or of a moment
	Unit   string  `json:"unit"`
	Digits int     `json:"digits"`
}

// A WorkShare is the share of the total that is of one kind of work.
type WorkShare struct {
	Work  string  `json:"work"`
	Share float64 `json:"share"`
}

// A Node is a symbol as called along one path. Its JSON names are short because
// a page has hundreds of nodes.
type Node struct {
	Symbol   string  `json:"n"`
	Group    Group   `json:"g"`
	Value    float64 `json:"v"`           // its own and that of everything it called
	Zoom     int     `json:"z,omitempty"` // number of the drawing that begins with this frame, if it has one
	Children []Node  `json:"c,omitempty"`
}

// A Row is a symbol over all paths that lead to it.
type Row struct {
	Symbol     string  `json:"n"`
	Group      Group   `json:"g"`
	Self       float64 `json:"self"`
	Cumulative float64 `json:"cum"`
	// The same as a page writes it: on the tree's scale, and in percent of the total.
	SelfText        string `json:"self_text,omitempty"`
	SelfShare       string `json:"self_share,omitempty"`
	CumulativeShare string `json:"cum_share,omitempty"`
}

// frame is a node while samples are added up, in whole numbers of the profile's
// own unit, so that sums are exact.
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
	groups           map[string]Group // the group where the symbol was first met
	unit             string
	per              int64 // number of the profile's units in a base unit
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
			// A recursive symbol counts once for a stack.
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

// Prune gives the tree of one sample type. Frames below a share of the total
// are folded into their parent's "other". A profile without samples gives a
// root of value 0, since it is a result that nothing waited for a lock.
func Prune(p *profile.Profile, sampleType string, least float64) (Tree, error) {
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
	t.Depth = depth(t.Root, func(n Node) []Node { return n.Children })
	zoom(&t.Root)

	t.Top = append(t.Top, g.rows(topRows, func(a, b Row) int { return cmp.Compare(b.Self, a.Self) })...)
	return t, nil
}

// Costliest lists the symbols with the highest values of one sample type over
// their paths. Samples without any symbol are left out.
func Costliest(p *profile.Profile, sampleType string, most int) ([]Row, error) {
	g, err := grow(p, sampleType)
	if err != nil {
		return nil, err
	}
	delete(g.cumulative, NoSymbol)
	return g.rows(most, func(Row, Row) int { return 0 }), nil
}

// rows lists the symbols' sums, ordered by first, then by cost, then by name.
func (g grown) rows(most int, first func(a, b Row) int) []Row {
	var rows []Row
	for name, c := range g.cumulative {
		rows = append(rows, Row{Symbol: name, Group: g.groups[name], Self: base(g.self[name], g.per),
			Cumulative: base(c, g.per)})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(first(a, b), cmp.Compare(b.Cumulative, a.Cumulative), strings.Compare(a.Symbol, b.Symbol))
	})
	return rows[:min(len(rows), most)]
}

// fold makes a node of a frame. Siblings are sorted by name, so that two
// profiles of one program look alike, and the folded one comes last.
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

// base converts a value to its base unit.
func base(v, per int64) float64 { return words.Significant(float64(v)/float64(per), 12) }

// depth is how many nodes are on the longest path from one.
func depth[N any](n N, children func(N) []N) (d int) {
	for _, c := range children(n) {
		d = max(d, depth(c, children))
	}
	return d + 1
}
