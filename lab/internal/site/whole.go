package site

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
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
	Questions []strict.Word      `json:"questions,omitempty"` // with their answers
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
	Disagree *Table `json:"disagree"`
	Agree    *Table `json:"agree"`
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
	measured, other := calibrations(text)
	if err = cmp.Or(err, other); err != nil {
		return fmt.Errorf("data/calibration/pairs.csv: %w", err)
	}
	updated := ""
	for _, p := range pages {
		updated = max(updated, p.Updated)
	}
	meanings := strict.Map(order[:4], func(v verdict.Verdict) strict.Word {
		return strict.Word{Name: string(v), Meaning: words.UpperFirst(v.Meaning()) + "."}
	})
	routes := strict.Map(route.All(), func(r route.Route) strict.Word {
		return strict.Word{Name: r.Path, Meaning: words.UpperFirst(r.About) + "."}
	})
	var lines bytes.Buffer
	if err := csv.NewWriter(&lines).WriteAll(strict.Map(s.ledger, strict.Cells)); err != nil {
		return err
	}
	s.files["data/ledger.csv"] = lines.Bytes()
	return s.encode("site.json", map[string]any{"updated": updated, "pages": pages, "corrections": corrections,
		"record": s.record(), "machines": s.listMachines(), "verdicts": meanings, "gates": gate.All, "works": profile.Works(),
		"names": map[string][]strict.Word{"settings": setting.Docs(), "routes": routes, "checks": law.All,
			"metrics": metric.Words()},
		"simulation": verdict.Simulation, "calibration": measured})
}

// contentPages makes what pages of content show, by the names of their files.
func (s *Site) contentPages(corrections []*Correction) (map[string]*contentPage, error) {
	claims, faults := map[string]verdict.Verdict{}, []error(nil)
	for name, x := range s.x {
		for _, c := range x.Claims {
			claims[name+"/"+c.ID] = c.Verdict
		}
	}
	all := map[string]*contentPage{}
	for _, p := range s.pages {
		out, numbers := &contentPage{Figures: map[string]*Figure{}}, p.numbers()
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
			if e := s.shown[name]; e != nil && e.Blocks > 0 {
				if at := (Link{e.machine, machinePath(e.Host)}); !slices.Contains(out.Machines, at) {
					out.Machines = append(out.Machines, at)
				}
			}
		}
		if of := s.claims(p.Experiments); len(of) > 0 {
			out.Claims, out.Tally, out.Questions = words.Count(len(of), "claim"), tally(of), s.questions(p)
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
				out.Audits = append(out.Audits, s.audit(a, len(out.Audits) > 0))
			}
		}
		for _, f := range p.Figures {
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

// audit lays out the findings of an entry's audit; later says that the page has others before it.
func (s *Site) audit(a *audit.File, later bool) Audit {
	out := Audit{Entry: a.Entry, Title: "What the figures of text " + a.Entry + " imply", ID: "audit"}
	if later {
		out.ID += "-" + a.Entry
	}
	table := func(agrees bool) *Table {
		t := &Table{Class: "figures audit cards", Heads: heads("Where it is printed", "Printed", "Recomputed", "Rounding allows", "Law")}
		for _, f := range a.Findings {
			if f.Holds != agrees {
				continue
			}
			id, within := out.ID+"-"+f.ID, ""
			printed, _, allows := f.Print(f.Stands)
			recomputed, _, _ := f.Print(f.Allowed)
			if f.Relation != law.Equals {
				recomputed = string(f.Relation) + " " + recomputed
			}
			if f.Within > 0 {
				within = "and " + words.Percent(f.Within) + " more"
			}
			t.Rows = append(t.Rows, Row{ID: id, Cells: []Cell{
				{Head: true, Text: words.UpperFirst(f.Place), To: "#" + id, Below: words.UpperFirst(f.Note)},
				{Text: cmp.Or(f.Printed, printed)}, {Text: recomputed}, {Text: cmp.Or(allows, "exact"), Note: within}, {Text: f.Law}}})
		}
		return t
	}
	out.Disagree, out.Agree = table(false), table(true)
	of := " with what others make of them (text " + a.Entry + ")"
	out.Disagree.Caption = fmt.Sprintf("%d of %s disagree%s", len(out.Disagree.Rows),
		words.Count(len(a.Findings), "figure"), of)
	out.Agree.Caption = words.Count(len(out.Agree.Rows), "figure agrees", "figures agree") + of
	return out
}

// A Record is the whole record at a glance.
type Record struct {
	Title    string  `json:"title"` // as "199 claims, on 2 machines"
	Tallies  []Tally `json:"tallies"`
	Compared *Table  `json:"compared,omitempty"` // each claim that compares, against its band, by its ratio
	Others   *Table  `json:"others"`             // values, bottlenecks, and what has no ratio yet
	Checks   *Table  `json:"checks"`             // of arithmetic, which are no findings
}

// A Tally counts the verdicts on the claims of one owner.
type Tally struct {
	Title  string    `json:"title"` // as "44 claims of texts"
	Bar    []Stroke  `json:"bar"`
	Counts []Counted `json:"counts"`
}

// A Counted is how often there is a verdict; an empty one is that nothing was run.
type Counted struct {
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	N       int             `json:"n"`
}

// order is that of verdicts in a tally.
var order = []verdict.Verdict{verdict.Confirmed, verdict.Refuted, verdict.Open, verdict.NotApplicable, ""}

// tally counts verdicts, without those that no claim has.
func tally(claims []claimPage) (out []Counted) {
	for _, v := range order {
		if n := strict.Count(claims, func(c claimPage) bool { return c.Verdict == v }); n > 0 {
			out = append(out, Counted{v, n})
		}
	}
	return out
}

// claims lists those of some experiments.
func (s *Site) claims(experiments []string) (all []claimPage) {
	for _, name := range experiments {
		all = append(all, s.x[name].Claims...)
	}
	return all
}

// record sums up all claims.
func (s *Site) record() Record {
	names := strict.Map(s.Experiments, func(x *experiment.Experiment) string { return x.Name })
	all, machines := s.claims(names), strict.Collect(s.Runs, func(r *results.File) string { return r.Hosts.Server })
	r := Record{Title: words.Count(len(all), "claim") + ", on " + words.Count(len(machines), "machine")}
	for _, of := range []struct {
		owner     experiment.Owner
		one, many string
	}{
		{experiment.Series, "claim of a text that the journal tests", "claims of texts that the journal tests"},
		{experiment.Journal, "claim of the journal’s own", "claims of the journal’s own"},
		{experiment.Control, "control of the lab itself", "controls of the lab itself"},
		{experiment.Check, "check of arithmetic, which is no finding", "checks of arithmetic, which are no findings"},
	} {
		owned := strict.Filter(all, func(c claimPage) bool { return c.Owner == of.owner })
		if len(owned) == 0 {
			continue
		}
		t := Tally{Title: words.Count(len(owned), of.one, of.many), Counts: tally(owned)}
		from := 0.0
		for _, c := range t.Counts {
			to := from + 100*float64(c.N)/float64(len(owned))
			t.Bar = append(t.Bar, Stroke{"part-" + cmp.Or(string(c.Verdict), "none"), fmt.Sprintf("M%v 10H%v", tenth(from), tenth(to))})
			from = to
		}
		r.Tallies = append(r.Tallies, t)
	}
	compared := rows{caption: "Each comparison that decides a claim, by its ratio", head: "Ratio", last: "Verdict",
		scale: scale{0.2, 5, true}, rules: []float64{1}}
	r.Others = &Table{Class: "cards", Caption: "Claims without a ratio", Heads: heads("Claim", "Verdict")}
	r.Checks = &Table{Class: "cards", Caption: "Checks", Heads: heads("Claim", "Verdict")}
	for _, x := range s.Experiments {
		for _, c := range s.x[x.Name].Claims {
			e := deciding(verdict.Claim{Effects: c.Effects})
			cell := Cell{Head: true, Text: c.Text, To: "claims/" + x.Name + "/#" + c.ID}
			plain := Row{Cells: []Cell{cell, {Verdict: c.Verdict, Text: map[verdict.Verdict]string{"": "not run yet"}[c.Verdict],
				Below: words.UpperFirst(c.Reason)}}}
			switch one := ratio(e); {
			case c.Owner == experiment.Check:
				r.Checks.Rows = append(r.Checks.Rows, plain)
			case one.at == nil && one.ends == nil:
				r.Others.Rows = append(r.Others.Rows, plain)
			default:
				one.first, one.verdict = &cell, c.Verdict
				compared.all = append(compared.all, one)
			}
		}
	}
	place := func(r row) float64 {
		low, _ := reach([]row{{ends: r.ends}})
		return *cmp.Or(r.at, &low)
	}
	slices.SortStableFunc(compared.all, func(a, b row) int { return cmp.Compare(place(a), place(b)) })
	r.Compared = compared.draw("record")
	return r
}

// listMachines lists the machines, those that measured first, as a plain table.
func (s *Site) listMachines() *Table {
	t := &Table{Class: "figures cards", Caption: "Machines and what is known of them", Heads: heads("Machine", "CPU", "Cores", "Memory",
		"System", "Interface", "Line rate", "Runs")}
	for _, id := range slices.Sorted(maps.Keys(s.Hosts)) {
		h := s.Hosts[id]
		runs := strict.Count(s.Runs, func(r *results.File) bool { return r.Hosts.Server == id })
		t.Rows = append(t.Rows, Row{ID: id, Cells: []Cell{{Head: true, Text: s.machines[id], To: "#" + id, Below: h.Note},
			{Text: h.CPU, Note: strings.TrimSpace(h.CPUVersion + " " + h.Arch), Below: h.Caches},
			{Text: known("", float64(h.Cores)), Note: map[string]string{"yes": "virtual"}[h.Virtual]},
			{Text: known("B", float64(h.MemoryBytes))}, {Text: strings.TrimSpace(h.OS + " " + h.Kernel)}, {Text: h.NIC,
				Note: map[bool]string{true: words.Count(h.NICQueues, "queue")}[h.NICQueues > 0]},
			{Text: known("bit/s", h.LineRateBps)}, {Text: known("", float64(runs))}}})
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int { // "" comes last
		return cmp.Compare(len(b.Cells[7].Text), len(a.Cells[7].Text))
	})
	return t
}

// known prints a figure that is absent where it is not known.
func known(unit string, v float64) string {
	if v == 0 {
		return ""
	}
	return words.Figure(unit, v)
}
