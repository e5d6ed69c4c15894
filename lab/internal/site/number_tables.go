package site

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// results is a table of figures, a row a condition.
func (q query) results() (Number, error) {
	of := q.names[1:]
	for _, name := range of {
		if _, known := metric.Lookup(name); !known {
			return Number{}, fmt.Errorf("there is no metric %q\n  %s", name, instead(name, metric.Names()))
		}
	}
	rows, err := q.conditions(q.levels)
	if len(rows) == 0 {
		return Number{Text: q.x.Name}, err
	}
	wanted := setting.Levels{}
	for name := range q.levels {
		wanted[name] = rows[0].Levels[name]
	}
	return Number{Table: q.e.results(of, wanted, q.names[0]+"-")}, nil
}

// profiles are those of a kind, with their conditions.
func (q query) profiles(kind string) (of []profile.Profile, at []medians.Summary, err error) {
	if profile.Kind(kind).Doc().Name == "" {
		kinds := strict.Map(profile.Kinds(), func(k profile.Kind) string { return string(k) })
		return nil, nil, fmt.Errorf("there is no profile of kind %q\n  %s", kind, instead(kind, kinds))
	}
	all, err := q.conditions(q.levels)
	for _, c := range all {
		for _, p := range c.Profiles {
			if p.Kind == profile.Kind(kind) {
				of, at = append(of, p), append(at, c)
			}
		}
	}
	return of, at, err
}

// share is that of a package in a profile; of one that is in no sample it is none.
func (q query) share() (Number, error) {
	of, _, err := q.profiles(q.names[0])
	if len(of) != 1 {
		return unmeasured, cmp.Or(err, fmt.Errorf("%d conditions have these levels and such a profile; name one", len(of)))
	}
	v, ok := of[0].Packages[q.names[1]]
	if !ok {
		return Number{Text: "none"}, nil
	}
	return Number{Text: words.Share(v), Value: &v}, nil
}

// work is a table of the shares of each kind of work in a profile, the largest first, a column a condition.
func (q query) work() (Number, error) {
	of, at, err := q.profiles(q.names[1])
	if len(of) == 0 {
		return Number{Text: q.x.Name}, err
	}
	doc := of[0].Kind.Doc()
	t := &Table{Class: "figures", Heads: heads("Kind of work"), Caption: fmt.Sprintf("%s. %s, medians over the trials "+
		"that count; each sample is of one kind", q.e.caption(), words.UpperFirst(doc.Name))}
	largest, most := map[string]float64{}, 0.0
	for i, p := range of {
		t.Heads = append(t.Heads, Head{Text: q.e.name(at[i].Levels), Unit: "%"})
		most = max(most, perSecond(p))
		for name, v := range p.Work {
			largest[name] = max(largest[name], v)
		}
	}
	row := func(id, label string, cell func(profile.Profile) string) {
		id = q.names[0] + "-" + id
		r := Row{ID: id, Cells: []Cell{{Head: true, Text: label, To: "#" + id}}}
		for _, p := range of {
			r.Cells = append(r.Cells, Cell{Text: cell(p)})
		}
		t.Rows = append(t.Rows, r)
	}
	kinds := slices.SortedFunc(maps.Keys(largest), func(a, b string) int {
		return cmp.Or(cmp.Compare(largest[b], largest[a]), strings.Compare(a, b))
	})
	for _, name := range kinds {
		row(name, words.UpperFirst(profile.Work(name).Words()), func(p profile.Profile) string {
			if v, there := p.Work[name]; there {
				return words.Grouped(100*v, -1)
			}
			return "none"
		})
	}
	unit := doc.Unit
	in := words.UnitFor(unit, most)
	if !doc.Kind.OfMoment() {
		in.Name += "/s"
	}
	row("all", "All of it, "+in.Name, func(p profile.Profile) string {
		return words.Grouped(in.Factor*perSecond(p), max(-3, min(0, words.Exponent(in.Factor*most)-3)))
	})
	return Number{Table: t}, nil
}

// perSecond is a profile's total by the second of its window, since windows differ in length, or that of a moment.
func perSecond(p profile.Profile) float64 {
	if p.Kind.OfMoment() || p.DurationS == 0 {
		return p.Total
	}
	return p.Total / p.DurationS
}
