package derive

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/plot"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// foldBelow is the share of a profile below which a frame is folded: at a
// page's width it would be three pixels wide.
const foldBelow = 0.005

// foldChanges is the same for a difference, of which no part is drawn by itself.
const foldChanges = 0.01

// A grown is the tree of a raw profile, and what a difference is taken of.
type grown struct {
	tree profiles.Tree
	side profiles.Side
}

// flames makes the trees that pages draw of a run's profiles: one for each
// profile and, if the experiment compares profiles, one of each difference.
func flames(j *archive.Journal, book *plot.Book, x *experiment.Experiment, f *results.File,
	add func(path string, data []byte) error) error {
	made := map[string]grown{} // by raw file
	keep := func(name string, tree any) error {
		return encoded(j.Root.Flame(f.Experiment, f.Run, name), tree, add)
	}
	for _, c := range f.Conditions {
		for _, named := range c.Profiles {
			name := c.ID + "-" + string(named.Kind)
			g, err := treeOf(j, x, c, named)
			if err == nil {
				made[named.File], book.Trees[f.Run+"/"+name] = g, g.tree
				err = keep(name, g.tree)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", named.File, err)
			}
		}
	}
	for _, pair := range pairs(x, f) {
		for _, before := range pair[0].Profiles {
			after, ok := strict.First(pair[1].Profiles, func(p results.RawProfile) bool { return p.Kind == before.Kind })
			if !ok {
				continue
			}
			name := pair[0].ID + "-" + pair[1].ID + "-" + string(before.Kind)
			t, err := diffOf(x, pair, before.Kind, made[before.File], made[after.File])
			if err == nil {
				book.Diffs[f.Run+"/"+name] = t
				err = keep(name, t)
			}
			if err != nil {
				return fmt.Errorf("%s/%s/%s: %w", f.Experiment, f.Run, name, err)
			}
		}
	}
	return nil
}

// treeOf leaves out what the taking of the profiles added, and says how much
// that was.
func treeOf(j *archive.Journal, x *experiment.Experiment, c results.Condition,
	named results.RawProfile) (g grown, err error) {
	kind, t := named.Kind, &g.tree
	p, err := j.Raw(named)
	if err != nil {
		return g, err
	}
	load, own, err := profiles.Load(kind, p)
	if err != nil {
		return g, err
	}
	a, err := profiles.Analyse(kind, load)
	if err != nil {
		return g, err
	}
	if *t, err = profiles.Prune(load, kind.SampleType(), foldBelow); err != nil {
		return g, err
	}
	g.side.Profile = load
	t.Name = fmt.Sprintf("%s: %s, %s", x.Title, kind.Words(), c.Levels.Key())
	t.Kind, t.Condition, t.Trials, t.Raw = string(named.Kind), c.ID, named.Trials, named.File
	t.DurationS = a.DurationS // 0 for a profile of a moment
	t.Over, t.Profiler = a.DurationS, own
	if kind.OfMoment() {
		t.Over, g.side.Moments = float64(named.Trials), named.Trials
	}
	t.Parked = profiles.Parked(a)
	for _, w := range profiles.Works() {
		if share, there := a.Work[string(w.Work)]; there {
			t.Work = append(t.Work, profiles.WorkShare{Work: string(w.Work), Share: share})
		}
	}
	compared := ""
	if x.Profile != nil {
		compared = x.Profile.Compare
	}
	pages.Tell(t, c.Levels, compared)
	slices.SortStableFunc(t.Work, func(a, b profiles.WorkShare) int { return cmp.Compare(b.Share, a.Share) })
	return g, nil
}

func diffOf(x *experiment.Experiment, pair [2]results.Condition, kind profiles.Kind,
	before, after grown) (profiles.DiffTree, error) {
	t, err := profiles.Diff(before.side, after.side, kind.SampleType(), foldChanges)
	if err != nil {
		return t, err
	}
	t.Name = fmt.Sprintf("%s: %s, %s, then %s", x.Title, kind.Words(), pair[0].Levels.Key(), pair[1].Levels.Key())
	t.Kind, t.Before, t.After = string(kind), pair[0].ID, pair[1].ID
	pages.TellDifference(&t, before.tree, after.tree)
	return t, nil
}

// pairs gives the conditions of a run that differ only in the factor that the
// experiment's profiles compare: its first and last level.
func pairs(x *experiment.Experiment, f *results.File) [][2]results.Condition {
	if x.Profile == nil || x.Profile.Compare == "" {
		return nil
	}
	factor := x.Profile.Compare
	all := x.Conditions() // first level of each factor first, last one last
	first, last := all[0][factor], all[len(all)-1][factor]
	var out [][2]results.Condition
	for _, b := range f.Conditions {
		for _, a := range f.Conditions {
			if b.ControlOf == "" && a.ControlOf == "" && !first.IsZero() && b.Levels[factor] == first &&
				a.Levels[factor] == last &&
				b.Levels.Without(factor).Key() == a.Levels.Without(factor).Key() {
				out = append(out, [2]results.Condition{b, a})
			}
		}
	}
	return out
}
