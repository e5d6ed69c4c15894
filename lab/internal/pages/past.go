package pages

import (
	"cmp"
	"maps"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Past is what a record said about a claim when a run had been added to it.
// The run's verdict file has the whole of it.
type Past struct {
	Run     string          `json:"run"`
	Was     verdict.Verdict `json:"was,omitempty"`     // what the same record said before
	First   bool            `json:"first,omitempty"`   // whether it is the first verdict of a record
	Changed bool            `json:"changed,omitempty"` // whether the verdict is another than before
	// Apart says why the newest record of its hosts does not hold the run; absent of a
	// run that it holds, or has none of.
	Apart string `json:"apart,omitempty"`
}

// A Gone is a claim by which runs were judged and that no longer stands, as the
// newest design that has it words it.
type Gone struct {
	ID        string   `json:"id"`
	Text      string   `json:"text"`
	Kind      string   `json:"kind,omitempty"`
	Bar       string   `json:"bar"`             // what Why is the reason for: margin, bar or criterion
	Edge      string   `json:"edge,omitempty"`  // that margin or bar
	Why       string   `json:"why,omitempty"`   // the claim's reason for its margin or bar
	Needs     string   `json:"needs,omitempty"` // its preconditions
	Withdrawn string   `json:"withdrawn,omitempty"`
	Criteria  []string `json:"criteria,omitempty"` // those it was held to, newest first
	History   []Past   `json:"history,omitempty"`
}

// byStart orders runs by their start, and then by their names.
func byStart(a, b *verdict.File) int {
	return cmp.Or(cmp.Compare(a.Started, b.Started), cmp.Compare(a.Run, b.Run))
}

// past lists what was said about a claim as each run was added. of gives the
// claims of a file among which to look.
func past(runs []Made, id string, of func(*verdict.File) []verdict.Claim) []Past {
	var out []Past
	var files []*verdict.File
	last := map[string]*verdict.File{} // of each record's hosts
	for _, r := range runs {
		c, ok := verdict.ClaimIn(of(r.File), id)
		if !ok {
			continue
		}
		p := Past{Run: r.Run}
		key := r.Host
		if before := last[key]; before != nil && holds(r.File, before) {
			was, _ := verdict.ClaimIn(of(before), id)
			p.Was, p.Changed = was.Verdict, was.Verdict != c.Verdict
		}
		p.First, last[key] = p.Was == "", r.File
		out, files = append(out, p), append(files, r.File)
	}
	for i, f := range files {
		if newest := last[f.Host]; newest != nil && !holds(newest, f) {
			out[i].Apart = apartWhy(newest, f)
		}
	}
	return out
}

// holds reports whether a file's record has another run's blocks. A file that does
// not say has those of all that went before.
func holds(f, other *verdict.File) bool {
	return f.Record == nil || slices.Contains(f.Record.Runs, other.Run)
}

// apartWhy says why a file's record does not hold an earlier run of the same claim and
// hosts.
func apartWhy(f, other *verdict.File) string {
	var names []string
	for name, now := range f.Record.Programs {
		if was := other.Record; was != nil && was.Programs[name] != "" && was.Programs[name] != now {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		return "of an earlier " + words.List(names)
	}
	return "of an earlier start of a machine of this kind, or of servers defined otherwise"
}

// Written says where a claim stood before it first ran: in the experiment's file
// at the commit that its first run recorded.
type Written struct {
	Commit string `json:"commit"`
	Design string `json:"design"` // SHA-256 of that file
	Run    string `json:"run"`    // the first run
}

// written looks at the first of the runs with trials, oldest first, that measured
// a claim: later runs are only counted with it if they have the same one.
func written(runs []Made, id string) *Written {
	for _, r := range runs {
		if _, ok := r.Claim(id); !ok || r.Trials == 0 {
			continue
		}
		if r.Written == "" {
			return nil
		}
		return &Written{r.Written, r.Design, r.Run}
	}
	return nil
}

// own names the run whose record is shown of a claim: that of the machine that the page shows, if
// the claim applies to it. Else it is the one with figures or, without any, to which the claim
// applies, with the most blocks; the newest of several. All files have the claim.
func own(files []*verdict.File, id, shown string) string {
	if len(files) == 0 {
		return ""
	}
	worth := func(f *verdict.File, c verdict.Claim) int {
		switch {
		case c.Verdict == verdict.NotApplicable:
			return 0
		case f.Host == shown:
			return 3
		case len(c.Effects) > 0:
			return 2
		}
		return 1
	}
	return slices.MaxFunc(files, func(a, b *verdict.File) int {
		x, _ := a.Claim(id)
		y, _ := b.Claim(id)
		return cmp.Or(cmp.Compare(worth(a, x), worth(b, y)), cmp.Compare(x.Blocks, y.Blocks), byStart(a, b))
	}).Run
}

// withdrawn lists the claims that no longer stand: those that the experiment
// names, in its order, and others that runs were judged by.
func withdrawn(x *experiment.Experiment, runs []Made) []Gone {
	var out []Gone
	add := func(id, text, why string) {
		g := Gone{ID: id, Text: cmp.Or(text, id), Bar: "criterion", Withdrawn: why}
		g.History = past(runs, id, func(f *verdict.File) []verdict.Claim { return f.Withdrawn })
		for _, r := range runs {
			if _, judged := verdict.ClaimIn(r.Withdrawn, id); !judged {
				continue
			}
			if c, ok := r.Then.Claim(id); ok {
				g.Text, g.Kind, g.Bar, g.Edge, g.Why, g.Needs = c.Text, string(c.Kind), barOf(c), edgeOf(c), c.Why,
					verdict.NeedsWords(c.Needs)
				said := verdict.Criterion(c)
				g.Criteria = append([]string{said}, slices.DeleteFunc(g.Criteria, func(s string) bool { return s == said })...)
			}
		}
		out = append(out, g)
	}
	for _, w := range x.Withdrawn {
		add(w.ID, w.Text, w.Why)
	}
	others := map[string]bool{}
	for _, r := range runs {
		for _, c := range r.Withdrawn {
			if !slices.ContainsFunc(out, func(g Gone) bool { return g.ID == c.ID }) {
				others[c.ID] = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(others)) {
		add(id, "", "")
	}
	return out
}

// barOf names what a claim's reason is the reason for.
func barOf(c experiment.Claim) string {
	switch {
	case c.Margin != nil:
		return "margin"
	case c.AtLeast != nil || c.AtMost != nil:
		return "bar"
	}
	return "criterion"
}

// edgeOf is a claim's margin or bar, as it was written; empty without one.
func edgeOf(c experiment.Claim) string {
	switch at := cmp.Or(c.AtLeast, c.AtMost); {
	case c.Margin != nil:
		return words.Percent(*c.Margin)
	case at == nil:
		return ""
	case c.Kind == experiment.Share:
		return words.Percent(*at)
	default:
		return words.Number(*at)
	}
}
