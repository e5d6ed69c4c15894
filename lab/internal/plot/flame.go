package plot

import (
	"fmt"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// flames draws the graphs of a figure of profiles: one for a condition, or those of the first and
// the last level of a factor, on one scale, and their difference. They are named by their ids.
func (b *Book) flames(f Figure) (map[string]string, error) {
	x, err := b.experiment(f.Exp)
	if err != nil || x.Profile == nil {
		return nil, err
	}
	sides := []setting.Levels{f.Levels}
	if f.Kind == "profiles" {
		all := x.Conditions()
		sides = nil
		for _, c := range []setting.Levels{all[0], all[len(all)-1]} {
			sides = append(sides, f.Levels.With(setting.Levels{x.Profile.Compare: c[x.Profile.Compare]}))
		}
	}
	run, ids := b.profiled(f, sides)
	if ids == nil {
		return nil, nil // the page says so
	}
	most, patterns := 0.0, ""
	var trees []profiles.Tree
	for i, id := range ids {
		t, ok := b.Trees[run+"/"+id+"-"+f.Profile]
		if !ok || t.Over == 0 {
			return nil, nil
		}
		trees, most = append(trees, t), max(most, t.Total/t.Over)
		if patterns == "" && t.Total > 0 {
			patterns = fmt.Sprintf("%s-%d", f.Name, i)
		}
	}
	diff, both := b.Diffs[run+"/"+strings.Join(ids, "-")+"-"+f.Profile]
	out := map[string]string{}
	for i, t := range trees {
		if t.Total == 0 {
			continue
		}
		s := side{f: f, t: t, id: fmt.Sprintf("%s-%d", f.Name, i), patterns: patterns}
		s.scale, s.full = t.Words.Scale, most*t.Over
		if both && len(diff.Words.Sides) > i {
			s.scale, s.most, s.magnified = diff.Words.Scale, diff.Words.Most, diff.Words.Sides[i].Magnified != ""
		}
		s.draw(out)
	}
	if both && diff.TotalBefore > 0 && diff.TotalAfter > 0 {
		id := f.Name + "-d"
		d := draw.Flame{Frame: draw.Frame{ID: id, Title: f.Title + ": the difference", Desc: diff.Words.Doc},
			Root: changes(diff.Root), Full: diff.TotalBefore, Differs: true, Patterns: id}
		out[id] = d.SVG()
	}
	return out, nil
}

// profiled is the run whose profiles are shown, with the ids of its conditions: the newest that
// has the kind in each of some conditions.
func (b *Book) profiled(f Figure, sides []setting.Levels) (run string, ids []string) {
	names := []string{f.Run}
	if f.Run == "" && b.Sums[f.Exp] != nil {
		names = b.Sums[f.Exp].Profiled
	}
	for _, name := range names {
		r, ok := b.run(f.Exp, name)
		if !ok || f.Host != "" && r.Host != f.Host {
			continue
		}
		var ids []string
		for _, levels := range sides {
			for _, c := range r.Conditions {
				if _, drawn := b.Trees[name+"/"+c.ID+"-"+f.Profile]; drawn && matches(c.Levels, levels) {
					ids = append(ids, c.ID)
					break
				}
			}
		}
		if len(ids) == len(sides) {
			return name, ids
		}
	}
	return "", nil
}

// A side is one condition's graph. Of two that stand side by side, the larger fills its width and
// both have its scale; one that is less than half as large is drawn once more, on a scale of its
// own. Frames too narrow to read link to a drawing of their own.
type side struct {
	f         Figure
	t         profiles.Tree
	id        string
	patterns  string
	scale     profiles.Scale
	full      float64
	most      string
	magnified bool
}

func (s side) says(symbol string, v float64) string {
	shown := s.scale.Factor / s.t.Over * v
	return fmt.Sprintf("%s: %.*f %s, %.1f %%", symbol, s.scale.Digits, shown, s.scale.Unit, 100/s.t.Total*v)
}

func (s side) frames(n profiles.Node) draw.FlameFrame {
	out := draw.FlameFrame{Symbol: n.Symbol, Pattern: string(n.Group), Value: n.Value, Zoom: n.Zoom}
	out.Words = s.says(n.Symbol, n.Value)
	out.Children = strict.Called(n.Children, s.frames)
	return out
}

func (s side) draw(out map[string]string) {
	var costly []string
	for _, r := range s.t.Top {
		if r.SelfShare != "" && len(costly) < 5 {
			costly = append(costly, r.Symbol+" "+r.SelfShare+" %")
		}
	}
	name, zooms := s.t.Words.Condition, s.id+"-zoom-"
	desc := fmt.Sprintf("%s. Costliest by themselves: %s. The table below has more.",
		s.t.Words.Total, strings.Join(costly, ", "))
	of := func(id, title, desc string, root draw.FlameFrame, full float64) draw.Flame {
		return draw.Flame{Frame: draw.Frame{ID: id, Title: s.f.Title + ": " + title, Desc: desc}, Root: root, Full: full,
			Zooms: zooms, Patterns: s.patterns, Words: s.says}
	}
	root := s.frames(s.t.Root)
	whole := of(s.id, name, desc, root, s.full)
	if s.magnified {
		whole.Zooms, whole.Says = "", "full width is "+s.most
		out[s.id+"-large"] = of(s.id+"-large", name+", magnified", desc, root, s.t.Total).SVG()
	}
	out[s.id] = whole.SVG()
	var all []draw.Zoom
	var zoom func(n draw.FlameFrame)
	zoom = func(n draw.FlameFrame) {
		for _, c := range n.Children {
			if c.Zoom > 0 {
				share := c.Value / s.t.Total
				graph := of(fmt.Sprintf("%s%d-flame", zooms, c.Zoom), c.Symbol+" of "+name,
					fmt.Sprintf("%.1f %% of the whole", 100*share), c, c.Value)
				all = append(all, draw.Zoom{Graph: graph, Share: share, Of: name, Back: s.id})
			}
			zoom(c)
		}
	}
	zoom(root)
	out[s.id+"-zooms"] = draw.Zooms(all)
}

// changes are the frames of a difference.
func changes(n profiles.DiffNode) draw.FlameFrame {
	out := draw.FlameFrame{Symbol: n.Symbol, Pattern: string(n.Trend), Value: n.Value, Change: n.Change,
		Words: fmt.Sprintf("%s: %s, %s", n.Symbol, n.Became, n.Change)}
	out.Children = strict.Called(n.Children, changes)
	return out
}
