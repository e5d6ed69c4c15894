// Package derive makes what follows from the journal's files: verdicts, CSV, claims over all hosts, the ledger,
// audits, and for pages what they show of each run, the figures that they declare, the metrics, the method, all
// names, and how many claims need what.
//
// A derived file depends on the journal and the lab alone: the same files give the same bytes on any machine at any
// time. Git holds none of them, so that contributions only add files and never conflict.
package derive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/chart"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/law/judge"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/server/route"
)

// An update derives all files of one journal.
type update struct {
	*archive.Journal
	book  *chart.Book
	pages []page            // of content
	files map[string][]byte // what was derived, by its path
	moved []Summary
}

// Update derives everything, and removes what follows from nothing any more. It gives the journal, and the pages whose
// words do not go with their records. It ends at the first file with a fault, which it names; then what was derived
// before stays.
func Update(root journal.Root) (*archive.Journal, []Summary, error) {
	j, faults, err := archive.Open(root)
	if err = Refuse(faults, err); err != nil {
		return nil, nil, err
	}
	u := &update{Journal: j, files: map[string][]byte{}, book: &chart.Book{
		Experiments: map[string]*experiment.Experiment{}, Names: pages.HostNames(j.Hosts),
		Runs: map[string]map[string]chart.Run{}, Sums: map[string]*pages.Hosts{}, Audits: map[string]*audit.File{}}}
	if u.pages, err = readPages(root); err != nil {
		return nil, nil, err
	}
	for _, step := range []func() error{u.audits, u.calibrations, u.boards, u.experiments, u.draw, u.whole,
		u.summaries, u.write} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return j, u.moved, nil
}

// Refuse makes an error of the first fault.
func Refuse(faults []archive.Fault, err error) error {
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%s: %w (lab check lists all faults)", faults[0].Path, faults[0].Err)
	}
	return err
}

// encode adds a file with a value as JSON, by the parts of its path in derived/: what lies in data is published,
// and pages is what templates are told.
func (u *update) encode(v any, parts ...string) error {
	data, err := results.Encode(v)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(parts...), err)
	}
	u.files[u.Root.Derived(parts...)] = data
	return nil
}

// write puts the files into their places, whose directories stay, since `hugo server` watches them.
func (u *update) write() error {
	for path, data := range u.files {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return journal.Walk(u.Root.Derived(), func(path string) error {
		if u.files[path] != nil {
			return nil
		}
		return os.Remove(path)
	})
}

// audits derives what the figures of texts say of each other.
func (u *update) audits() error {
	for _, a := range u.Audits {
		u.book.Audits[a.Entry] = a
		if err := u.encode(a, "data", "audits", a.Entry+".json"); err != nil {
			return err
		}
	}
	return nil
}

// calibrations derives how often comparisons of a known truth were right.
func (u *update) calibrations() error {
	path := u.Root.Path("data", "calibration", "pairs.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all, err := calibration.Tables(text)
	if err != nil {
		return fmt.Errorf("%s: %w", u.Root.Rel(path), err)
	}
	return u.encode(map[string]any{"tables": all}, "pages", "calibration.json")
}

// experiments decides all claims and derives what pages show of each experiment and run.
func (u *update) experiments() error {
	beside := map[string][]string{} // the experiments of an experiment's page
	for _, p := range u.pages {
		for _, name := range p.Experiments {
			beside[name] = p.Experiments
		}
	}
	made, blocks := map[string][]pages.Made{}, map[string]pages.Blocks{}
	for _, x := range u.Experiments {
		made[x.Name] = u.decide(x)
		blocks[x.Name] = pages.BlocksOf(made[x.Name])
	}
	for _, x := range u.Experiments {
		others := pages.Blocks{}
		for _, other := range beside[x.Name] {
			if other != x.Name {
				for machine, n := range blocks[other] {
					others[machine] += n
				}
			}
		}
		sum := pages.OverHosts(x, made[x.Name], others)
		u.book.Sums[x.Name] = sum
		if err := u.encode(sum, "data", "claims", x.Name+".json"); err != nil {
			return err
		}
		shown := sum.Shows()
		for name, of := range u.book.Runs[x.Name] {
			if err := u.run(of, shown[name]); err != nil {
				return fmt.Errorf("%s: %w", u.Root.Rel(u.Root.Result(x.Name, name)), err)
			}
		}
	}
	return nil
}

// decide decides each run of an experiment, in the journal's order, and adds them to the book.
func (u *update) decide(x *experiment.Experiment) (made []pages.Made) {
	u.book.Experiments[x.Name], u.book.Runs[x.Name] = x, map[string]chart.Run{}
	asked := u.Question(x)
	for _, r := range u.Runs {
		if r.Experiment != x.Name {
			continue
		}
		f := asked.Decide(x, u.Hosts[r.Hosts.Server], u.Record(x, r))
		pages.Fill(f, x)
		made = append(made, pages.Made{File: f, Then: archive.Then(x, r)})
		u.book.Runs[x.Name][r.Run] = chart.Run{File: f, Results: r}
	}
	return made
}

// run derives the files of a run. Of one whose record no page shows, pages list only how it was made.
func (u *update) run(of chart.Run, shown bool) error {
	page := pages.PageOf(of.File, of.Results)
	if !shown {
		page.Shorten()
	}
	sheet, err := of.Results.Sheet()
	if err != nil {
		return err
	}
	x, name := of.Results.Experiment, of.Results.Run
	u.files[u.Root.Derived("data", "results", x, name+".csv")] = sheet
	return u.encode(page, "pages", "runs", x, name+".json")
}

// whole derives what is said of all experiments together, and what pages are told of the lab.
func (u *update) whole() error {
	ledger := pages.NewLedger()
	for _, x := range u.Experiments {
		ledger.Add(x, u.book.Sums[x.Name])
	}
	for name, v := range map[string]any{"metrics": metric.Document(), "names": map[string]any{"kinds": names()},
		"method": pages.Rules(), "reach": reach(u.Experiments), "score": ledger.Score(), "host_names": u.book.Names} {
		if err := u.encode(v, "pages", name+".json"); err != nil {
			return err
		}
	}
	sheet, err := ledger.CSV()
	if err != nil {
		return err
	}
	u.files[u.Root.Derived("data", "ledger.csv")] = sheet
	return u.encode(ledger, "data", "ledger.json")
}

// boards judges the tables of public boards.
func (u *update) boards() error {
	paths, _ := filepath.Glob(u.Root.Path("data", "boards", "*.toml"))
	all := map[string]judged{}
	for _, path := range paths {
		if err := judgeBoard(path, all); err != nil {
			return fmt.Errorf("%s: %w", u.Root.Rel(path), err)
		}
	}
	return u.encode(all, "pages", "boards.json")
}

// A judged is what became of a table of a public board, in figures and as pages print them.
type judged struct {
	Values map[string]int    `json:"values"`
	Shown  map[string]string `json:"shown"`
}

// judgeBoard judges the tables of a public board as it was on a day, data/boards/ID.toml, which lie beside it as CSV.
func judgeBoard(path string, all map[string]judged) error {
	var b struct {
		Date   string `toml:"date"` // of the figures
		Tables []struct {
			File  string `toml:"file"`  // without .csv
			Added string `toml:"added"` // why its latencies are not those of the requests alone
			Means bool   `toml:"means"` // each figure is a mean of its own over several runs
		} `toml:"tables"`
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = toml.Unmarshal(data, &b)
	}
	if err != nil {
		return err
	}
	for _, t := range b.Tables {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), t.File+".csv"))
		if err != nil {
			return err
		}
		of, err := judge.Of(t.File, text, judge.Options{Averaged: t.Means, Added: t.Added})
		if err != nil {
			return err
		}
		if n := of.Of[judge.Unread]; n > 0 {
			return fmt.Errorf("%s.csv: %s could not be read; the first: %s", t.File, words.Count(n, "row"), of.Findings[0].Says)
		}
		little := of.Laws[law.InFlight.ID]
		held := little.Held + little.Broken
		j := judged{map[string]int{"rows": of.Rows, "held": held, "broken": little.Broken},
			map[string]string{"date": b.Date, "share": "none"}}
		for name, n := range j.Values {
			j.Shown[name] = words.Thousands(n)
		}
		if little.Broken > 0 {
			j.Shown["share"] = strings.ReplaceAll(words.Share(float64(little.Broken)/float64(held)), " ", "\u00a0")
		}
		all[t.File] = j
	}
	return nil
}

// A glossary is the names of one kind that a file may hold, for the page that lists them.
type glossary struct {
	ID    string        `json:"id"`
	Where string        `json:"where"` // in which file they are written, and as what
	Form  string        `json:"form,omitempty"`
	Names []strict.Word `json:"names"`
}

// names lists every name that experiments and texts can be written with.
func names() []glossary {
	routes := strict.Map(route.All(), func(r route.Route) strict.Word {
		return strict.Word{Name: r.Path, Meaning: words.UpperFirst(r.About) + "."}
	})
	return []glossary{
		{"settings", "In an experiment: a key of [settings], or the name of a factor.", "", setting.Docs()},
		{"routes", "In an experiment: a level of route.", "", routes},
		{"topologies", "In an experiment: kind, of [topology].", "Also takes", experiment.Topologies()},
		{"claims", "In an experiment: kind, of [[claims]]. Each claim also has an id, a text, and why " +
			"its margin or bar is what it is.", "Takes", experiment.Claims()},
		{"walls", "In an experiment: bound, of a claim or of what it needs.", "", experiment.Walls()},
		{"profiles", "In an experiment: profile, of a claim about a profile.", "", experiment.Profiles()},
		{"works", "In an experiment: work, of a claim about a share.", "", experiment.Works()},
		{"checks", "In a text: kind, of [[checks]].", "", strict.Meanings(audit.Kinds)},
		{"metrics", "In an experiment: metrics, and metric of a claim. In a text: a figure of a table.", "", metric.Words()},
	}
}

// reach counts the journal's claims by what a machine needs to test them: two cores alone (here, and wire of these
// over a wire between two namespaces), a setting that only root may change, more than two cores, or a second machine.
// A claim that needs several things is counted once, by the last of these.
func reach(designs []*experiment.Experiment) map[string]int {
	n := map[string]int{"claims": 0, "here": 0, "wire": 0, "root": 0, "cores": 0, "machines": 0}
	for _, x := range designs {
		for _, c := range x.Claims {
			n["claims"]++
			switch d := x.Needs(c); {
			case d.Fleet:
				n["machines"]++
			case d.Cores > 2: // the smallest machine on which the lab runs
				n["cores"]++
			case d.Root:
				n["root"]++
			default:
				n["here"]++
				if d.Wire {
					n["wire"]++
				}
			}
		}
	}
	return n
}
