package site

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// An experimentPage is what the page of an experiment shows, and of its claims the page of its
// entry. The site publishes the file as it is.
type experimentPage struct {
	Name      string        `json:"name"`
	Title     string        `json:"title"`
	Question  string        `json:"question"`
	Entry     *Link         `json:"entry,omitempty"`    // the page that tells the story
	Run       string        `json:"run,omitempty"`      // newest of the evidence; absent without any, as the next three
	Evidence  string        `json:"evidence,omitempty"` // machine, day, and number of blocks
	Control   string        `json:"control,omitempty"`  // what its A/A control showed
	Table     *Table        `json:"table,omitempty"`    // the figures of all blocks
	Servers   []strict.Word `json:"servers,omitempty"`  // the configuration of each
	Claims    []claimPage   `json:"claims"`
	Withdrawn []Withdrawn   `json:"withdrawn,omitempty"`
	Runs      *Table        `json:"runs,omitempty"`    // of all machines, newest first
	Updated   string        `json:"updated,omitempty"` // when the newest began
}

// A claimPage is a claim with what the evidence says, on the machine of the page and on all.
type claimPage struct {
	ID        string           `json:"id"`
	Kind      string           `json:"kind"`
	Text      string           `json:"text"`
	Owner     experiment.Owner `json:"owner"`
	Criterion string           `json:"criterion"` // to continue "holds if"
	Why       string           `json:"why"`
	Needs     string           `json:"needs,omitempty"`
	Commit    string           `json:"commit,omitempty"` // that had the claim before its first run
	Verdict   verdict.Verdict  `json:"verdict,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Effects   []verdict.Effect `json:"effects,omitempty"`  // its comparisons, as decided
	Compared  *Table           `json:"compared,omitempty"` // the same to look at
	Machines  *Table           `json:"machines,omitempty"` // what each machine says, if there are several
}

// A Withdrawn is a claim that left the count.
type Withdrawn struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// experiments makes the page of each experiment, and its downloads.
func (s *Site) experiments() error {
	for _, x := range s.Experiments {
		p := &experimentPage{Name: x.Name, Title: x.Title, Question: x.Question, Entry: s.entryOf(x), Claims: []claimPage{}}
		for _, server := range x.Loaded() {
			about := strings.TrimSuffix(server.About, ".") + "."
			if len(server.Needs) > 0 {
				about += " Needs " + words.List(server.Needs) + "."
			}
			p.Servers = append(p.Servers, strict.Word{Name: cmp.Or(server.Title, server.Name), Meaning: about})
		}
		for _, w := range x.Withdrawn {
			p.Withdrawn = append(p.Withdrawn, Withdrawn{w.ID, cmp.Or(w.Text, w.ID), w.Why})
		}
		// Their names have the times at which they began, so they are in that order.
		runs := strict.Filter(s.Runs, func(r *results.File) bool { return r.Experiment == x.Name })
		e := s.shown[x.Name]
		if e != nil {
			p.Run, p.Evidence = e.Run, e.caption()
			if e.Control != nil {
				p.Control = e.Control.Reason
			}
			if len(e.Conditions) > 0 {
				p.Table = e.results(x.Metrics, e.Conditions, "")
			}
			p.Updated = runs[len(runs)-1].Provenance.StartedAt.UTC().Format(time.RFC3339)
			p.Runs = s.listRuns(runs)
		}
		for _, c := range x.Claims {
			p.Claims = append(p.Claims, s.claim(x, c, e, runs))
		}
		s.x[x.Name] = p
		if err := s.encode(path.Join("x", x.Name+".json"), p); err != nil {
			return err
		}
		for _, r := range runs {
			sheet, err := r.Sheet()
			if err != nil {
				return err
			}
			s.files[path.Join("data/results", x.Name, r.Run+".csv")] = sheet
		}
	}
	return nil
}

// entryOf names the page that tells of an experiment; nil if none does.
func (s *Site) entryOf(x *experiment.Experiment) *Link {
	p, ok := strict.Find(s.pages, func(p *page) bool { return slices.Contains(p.Experiments, x.Name) })
	if !ok {
		return nil
	}
	name := cmp.Or(p.LinkTitle, p.Title)
	if n, ok := s.entries[x.Entry]; ok && p.Number != "" {
		name = n.Said + ": " + n.Title
	}
	return &Link{words.UpperFirst(name), p.href() + "#experiment-" + x.Name}
}

// claim says of a claim what the evidence shown says, and that of each machine.
func (s *Site) claim(x *experiment.Experiment, c experiment.Claim, e *evidence, runs []*results.File) claimPage {
	p := claimPage{ID: c.ID, Kind: string(c.Kind), Text: c.Text, Owner: c.Owner, Criterion: verdict.Criterion(c),
		Needs: verdict.Needs(c.Needs), Why: c.Why, Commit: written(x, c, runs)}
	if e != nil {
		of, _ := e.Claim(c.ID)
		p.Verdict, p.Reason, p.Effects = of.Verdict, of.Reason, of.Effects
		if len(of.Effects) > 0 {
			p.Compared = e.compare(c, of.Effects).draw("")
		}
	}
	head := []string{x.Entry, x.Name, c.ID, p.Kind, string(c.Owner), c.Text}
	machines := &Table{Class: "cards", Caption: "What each machine says", Heads: heads("Machine", "Verdict", "Ratio", "Blocks")}
	for _, id := range slices.Sorted(maps.Keys(s.evidence[x.Name])) {
		of, has := s.evidence[x.Name][id].Claim(c.ID)
		if !has {
			continue
		}
		e, ratio := deciding(of), deciding(of).Words
		s.ledger = append(s.ledger, slices.Concat(head, []string{id, s.evidence[x.Name][id].Run, string(of.Verdict),
			strconv.Itoa(of.Blocks), strconv.Itoa(of.For), strconv.Itoa(of.Against), digits(e.Ratio), digits(e.Low),
			digits(e.High)}))
		machines.Rows = append(machines.Rows, Row{Cells: []Cell{{Head: true, Text: s.machines[id], To: machinePath(id)},
			{Verdict: of.Verdict, Below: words.UpperFirst(of.Reason) + "."}, {Text: ratio.Text, Note: ratio.Interval},
			{Text: words.Thousands(of.Blocks)}}})
	}
	if len(machines.Rows) > 1 {
		p.Machines = machines
	} else if len(machines.Rows) == 0 {
		s.ledger = append(s.ledger, slices.Concat(head, make([]string, 9)))
	}
	return p
}

// digits are those of a number; none of 0, which is not known.
func digits(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// deciding is the comparison that decides a claim; empty without any.
func deciding(c verdict.Claim) verdict.Effect {
	e, _ := strict.Find(c.Effects, func(e verdict.Effect) bool { return e.Decides })
	return e
}

// written is the commit that had a claim before it first ran, by what that run recorded; empty if nothing was run, or
// if files differed from the commit. Prove asks git whether it is true.
func written(x *experiment.Experiment, c experiment.Claim, runs []*results.File) string {
	first, ok := strict.Find(runs, func(r *results.File) bool {
		then := archive.Then(x, r)
		was, had := then.Claim(c.ID)
		return len(r.Trials) > 0 && had && x.Holds(then, was)
	})
	if !ok || first.Provenance.Dirty || first.Provenance.Commit == host.UnknownCommit {
		return ""
	}
	return first.Provenance.Commit
}

// listRuns lists runs, newest first, with their raw files.
func (s *Site) listRuns(runs []*results.File) *Table {
	t := &Table{Class: "runs cards", Caption: "Runs, newest first", Heads: heads("Run", "Machine", "Blocks", "Trials", "Files")}
	for _, r := range slices.Backward(runs) {
		at := path.Join("data/results", r.Experiment, r.Run)
		files := []Link{{"JSON", at + ".json"}, {"CSV", at + ".csv"}}
		for _, c := range r.Conditions {
			if len(c.Profiles) > 0 && len(files) == 2 {
				files = append(files, Link{"profiles", "data/profiles/" + path.Dir(c.Profiles[0].File) + ".zip"})
			}
		}
		void := strict.Count(r.Trials, func(t results.Trial) bool { return !t.Valid })
		t.Rows = append(t.Rows, Row{Cells: []Cell{{Head: true, Text: r.Provenance.StartedAt.UTC().Format("2 Jan 2006, 15:04")},
			{Text: s.machines[r.Hosts.Server], To: machinePath(r.Hosts.Server)}, {Text: words.Thousands(r.Provenance.Blocks)},
			{Text: words.Thousands(len(r.Trials)), Note: refused(void)}, {Links: files}}})
	}
	return t
}

// machinePath is where a machine is described.
func machinePath(id string) string { return "machines/#" + id }
