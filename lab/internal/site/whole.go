package site

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/server/route"
)

// A contentPage is what a page of content shows beside its own text. A page without experiments has no machine.
type contentPage struct {
	Called    string             `json:"called,omitempty"` // "Entry 05", "Entries 06–08"; absent without a number, as Label
	Label     string             `json:"label,omitempty"`  // "05", "06–08"
	Machines  []Link             `json:"machines,omitempty"`
	Updated   string             `json:"updated,omitempty"` // its date, or when its newest run began
	Notices   []string           `json:"notices,omitempty"`
	Claims    string             `json:"claims,omitempty"` // how many
	Tally     []Counted          `json:"tally,omitempty"`
	Corrects  []*Correction      `json:"corrects,omitempty"`  // what it corrects of others
	Corrected []*Correction      `json:"corrected,omitempty"` // corrections by others
	Audits    []Audit            `json:"audits,omitempty"`
	Figures   map[string]*Figure `json:"figures,omitempty"`
}

// A Correction is what an entry found wrong in an earlier one.
type Correction struct {
	ID       string `json:"id"`
	Date     string `json:"date"`
	By       *Entry `json:"by"`
	Of       *Entry `json:"of"`
	Claim    *Link  `json:"claim,omitempty"`
	Believed string `json:"believed"`
	Found    string `json:"found"`
}

// An Audit is what the printed figures of an entry imply about each other.
type Audit struct {
	Entry    string `json:"entry"`
	Title    string `json:"title"`
	ID       string `json:"id"`
	Disagree *Table `json:"disagree,omitempty"`
	Agree    *Table `json:"agree,omitempty"`
}

// whole makes site.json and the ledger.
func (s *Site) whole() error {
	corrections, err := s.corrections()
	if err != nil {
		return err
	}
	pages, err := s.contentPages(corrections)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(s.Root.Path("data", "calibration", "pairs.csv"))
	if err != nil {
		return err
	}
	measured, err := calibrations(text)
	if err != nil {
		return fmt.Errorf("data/calibration/pairs.csv: %w", err)
	}
	updated := ""
	for _, p := range pages {
		updated = max(updated, p.Updated)
	}
	meanings := map[string]string{}
	for _, v := range order {
		meanings[string(v)] = v.Meaning()
	}
	if s.files["data/ledger.csv"], err = s.ledger(); err != nil {
		return err
	}
	return s.encode("site.json", map[string]any{"updated": updated, "pages": pages, "entries": s.entries, "corrections": corrections,
		"record": s.record(), "machines": s.listMachines(), "verdicts": meanings, "gates": gate.All, "works": profile.Works(),
		"names": names(), "simulation": verdict.Simulation, "calibration": measured})
}

// names lists what experiments and texts can be written with, by kind.
func names() map[string][]strict.Word {
	routes := strict.Map(route.All(), func(r route.Route) strict.Word {
		return strict.Word{Name: r.Path, Meaning: words.UpperFirst(r.About) + "."}
	})
	return map[string][]strict.Word{"settings": setting.Docs(), "routes": routes, "checks": law.All, "metrics": metric.Words()}
}

// contentPages makes what pages of content show, by the names of their files.
func (s *Site) contentPages(corrections []*Correction) (map[string]*contentPage, error) {
	claims, faults := map[string]verdict.Claim{}, []error(nil)
	for name, x := range s.x {
		for _, c := range x.Claims {
			claims[name+"/"+c.ID] = verdict.Claim{}
			if e := s.shown[name]; e != nil {
				claims[name+"/"+c.ID], _ = e.Claim(c.ID)
			}
		}
	}
	all := map[string]*contentPage{}
	for _, p := range s.pages {
		out, numbers := &contentPage{}, p.numbers()
		if p.Date.Year > 0 {
			out.Updated = p.Date.AsTime(time.UTC).Format(time.RFC3339)
		}
		if p.Number != "" {
			out.Called, out.Label = "Entry "+p.Number, p.Number
			if n := len(numbers); n > 1 {
				out.Label += "–" + numbers[n-1].Number
				out.Called = "Entries " + out.Label
			}
		}
		for _, name := range p.Experiments {
			x := s.x[name]
			if x == nil {
				return nil, fmt.Errorf("%s: experiments: lab/experiments/%s.toml is missing", p.path, name)
			}
			out.Updated = max(out.Updated, x.Updated)
			if e := s.shown[name]; e != nil && e.blocks() > 0 {
				if at := (Link{e.machine, machinePath(e.Host)}); !slices.Contains(out.Machines, at) {
					out.Machines = append(out.Machines, at)
				}
			}
		}
		if of := s.claims(p.Experiments); len(of) > 0 {
			out.Claims, out.Tally = words.Count(len(of), "claim"), count(of)
		}
		moved, notices, err := p.compare(claims)
		if err != nil {
			return nil, err
		}
		out.Notices, s.Summaries = notices, append(s.Summaries, moved...)
		for _, c := range corrections {
			if c.By.page == p {
				out.Corrects = append(out.Corrects, c)
			}
			if c.Of.page == p {
				out.Corrected = append(out.Corrected, c)
			}
		}
		for _, n := range numbers {
			if a, ok := strict.Find(s.Audits, func(a *audit.File) bool { return a.Entry == n.Number }); ok {
				out.Audits = append(out.Audits, s.audit(a, n, len(out.Audits) > 0, len(numbers) > 1))
			}
		}
		if len(p.figures) > 0 {
			out.Figures = map[string]*Figure{}
		}
		for _, f := range p.figures {
			drawn, err := s.draw(f)
			if out.Figures[f.Name] != nil {
				err = errors.New("the page has another figure of this name")
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: figure %q: %w", p.path, f.Name, err))
			}
			out.Figures[f.Name] = drawn
		}
		all[p.name()] = out
	}
	return all, errors.Join(faults...)
}

// corrections lists what entries correct, newest first.
func (s *Site) corrections() (all []*Correction, err error) {
	for _, p := range s.pages {
		for _, c := range p.Corrects {
			by, of := s.entries[c.Number], s.entries[c.Entry]
			if by == nil {
				by = p.numbers()[0]
			}
			if of == nil || c.Believed == "" || c.Found == "" {
				return nil, fmt.Errorf("%s: [[corrects]]: name an entry that is there, not %q, and say what was believed and found",
					p.path, c.Entry)
			}
			out := &Correction{By: by, Of: of, Believed: c.Believed, Found: c.Found,
				Date: by.date.AsTime(time.UTC).Format(time.DateOnly)}
			out.ID = strings.TrimSuffix("correction-"+by.Number+"-of-"+c.Entry+"-"+strings.ReplaceAll(c.Claim, "/", "-"), "-")
			if c.Claim != "" {
				claim, err := s.resolve(strings.Replace(c.Claim, "/", " claim ", 1))
				if err != nil {
					return nil, fmt.Errorf("%s: [[corrects]]: %w", p.path, err)
				}
				out.Claim = &Link{claim.Text, claim.To}
			}
			all = append(all, out)
		}
	}
	slices.SortStableFunc(all, func(a, b *Correction) int {
		return strings.Compare(b.Date+b.By.Number, a.Date+a.By.Number)
	})
	return all, nil
}

// audit lays out the findings of an entry's audit; later says that the page has others before it, and several that the
// page tells of several entries.
func (s *Site) audit(a *audit.File, n *Entry, later, several bool) Audit {
	out, of := Audit{Entry: a.Entry, Title: "What the figures imply", ID: "audit"}, ""
	if several {
		out.Title, of = "What the figures of "+n.Said+" imply", " ("+n.Said+")"
	}
	if later {
		out.ID += "-" + n.Number
	}
	for _, agrees := range []bool{false, true} {
		t := &Table{Class: "figures audit cards", Heads: heads("Where it is printed", "Printed", "Recomputed", "Rounding allows", "Law")}
		for _, f := range a.Findings {
			if f.Agrees != agrees {
				continue
			}
			id := out.ID + "-" + f.ID
			recomputed, within := f.Shown.Recomputed, f.Shown.Within
			if f.Relation != "equals" {
				recomputed = string(f.Relation) + " " + recomputed
			}
			if within != "" {
				within = "and " + within + " more"
			}
			t.Rows = append(t.Rows, Row{ID: id, Cells: []Cell{{Head: true, Text: words.UpperFirst(f.Place), To: "#" + id,
				Below: words.UpperFirst(f.Note)}, {Text: f.Shown.Printed}, {Text: recomputed}, {Text: cmp.Or(f.Shown.Stands, "exact"), Note: within},
				{Text: string(f.Kind)}}})
		}
		switch n := len(t.Rows); {
		case n == 0:
		case agrees:
			t.Caption = words.Count(n, "figure agrees", "figures agree") + " with what others make of them" + of
			out.Agree = t
		default:
			t.Caption = fmt.Sprintf("%d of %s disagree with what others make of them%s", n, words.Count(len(a.Findings), "figure"), of)
			out.Disagree = t
		}
	}
	return out
}
