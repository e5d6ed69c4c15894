// Package derive makes what follows from the journal's files: verdicts, CSV, trees
// of profiles, claims over all hosts, the ledger, audits, schemas, and for pages what
// they show of each run, the metrics, the method, all names, and how many claims need
// what.
//
// A derived file depends on the journal and the lab alone: the same files give the same
// bytes on any machine at any time. Git holds none of them, so that contributions only
// add files and never conflict.
package derive

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/chart"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Done is what Update derived.
type Done struct {
	Experiments, Runs int
	Moved             []Summary // pages whose words do not go with their record
}

// An update derives all files of one journal.
type update struct {
	*archive.Journal
	book   *chart.Book
	beside map[string][]string    // the experiments of an experiment's page
	pages  []page                 // of content
	whose  map[string]pages.Whose // claims that are not the journal's own, by EXPERIMENT/ID
	made   map[string]bool        // the files that were derived
	moves  []Summary
}

// Update derives everything, and removes what follows from nothing any more. It ends at the first
// file with a fault, which it names.
func Update(root journal.Root) (Done, error) {
	j, faults, err := archive.Open(root)
	if err = Refuse(faults, err); err != nil {
		return Done{}, err
	}
	u := &update{Journal: j, beside: map[string][]string{}, made: map[string]bool{}}
	for _, step := range []func() error{
		u.declare, u.audits, u.calibrations, u.boards, u.experiments, u.draw, u.whole, u.moved, u.prune,
	} {
		if err := step(); err != nil {
			return Done{}, err
		}
	}
	return Done{len(j.Experiments), len(j.Runs), u.moves}, nil
}

// calibrations derives how often comparisons of a known truth were right.
func (u *update) calibrations() error {
	path := u.Root.Calibration()
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	all, err := calibration.Tables(text)
	if err != nil {
		return fmt.Errorf("%s: %w", u.Root.Rel(path), err)
	}
	return encoded(u.Root.Calibrated(), map[string]any{"tables": all}, u.put)
}

// boards judges the tables of public boards.
func (u *update) boards() error {
	paths, err := filepath.Glob(filepath.Join(u.Root.Boards(), "*.toml"))
	if err != nil {
		return err
	}
	all := map[string]judgedTable{}
	for _, path := range paths {
		tables, err := loadBoard(path)
		if err != nil {
			return fmt.Errorf("%s: %w", u.Root.Rel(path), err)
		}
		maps.Copy(all, tables)
	}
	return encoded(u.Root.Judged(), all, u.put)
}

// experiments decides all claims and derives what pages show of each experiment and run.
func (u *update) experiments() error {
	made, blocks := map[string][]pages.Made{}, map[string]pages.Blocks{}
	for _, x := range u.Experiments {
		made[x.Name] = u.said(x)
		blocks[x.Name] = pages.BlocksOf(made[x.Name])
	}
	for _, x := range u.Experiments {
		others := pages.Blocks{}
		for _, other := range u.beside[x.Name] {
			if other != x.Name {
				for machine, n := range blocks[other] {
					others[machine] += n
				}
			}
		}
		sum := pages.OverHosts(x, u.whose, made[x.Name], others)
		u.book.Sums[x.Name] = sum
		if err := encoded(u.Root.Hosts(x.Name), sum, u.put); err != nil {
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

// said decides each run of an experiment, in the journal's order, and adds them to the book.
func (u *update) said(x *experiment.Experiment) (made []pages.Made) {
	u.book.Experiments[x.Name], u.book.Runs[x.Name] = x, map[string]chart.Run{}
	asked := u.Question(x)
	for _, r := range u.Runs {
		if r.Experiment != x.Name {
			continue
		}
		f := asked.Decide(x, u.Hosts[r.Hosts.Server], u.Record(x, r))
		pages.Fill(f, x)
		made = append(made, pages.Made{File: f, Then: u.Then(x, r)})
		u.book.Runs[x.Name][r.Run] = chart.Run{File: f, Results: r}
	}
	return made
}

// run derives the files of a run. Of one whose record no page shows, pages list only how it was made.
func (u *update) run(of chart.Run, shown bool) error {
	r := of.Results
	page := pages.PageOf(of.File, r)
	if !shown {
		page.Shorten()
	}
	sheet, err := r.Sheet()
	if err != nil {
		return err
	}
	return errors.Join(u.put(u.Root.Sheet(r.Experiment, r.Run), sheet),
		encoded(u.Root.Run(r.Experiment, r.Run), page, u.put))
}

// Refuse makes an error of faults.
func Refuse(faults []archive.Fault, err error) error {
	if err != nil || len(faults) == 0 {
		return err
	}
	more := ""
	if n := len(faults) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more; lab check lists them)", n)
	}
	return fmt.Errorf("%s: %w%s", faults[0].Path, faults[0].Err, more)
}

// encoded adds a value as JSON.
func encoded(path string, v any, add func(path string, data []byte) error) error {
	data, err := results.Encode(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return add(path, data)
}

// prune removes what was derived once and follows from nothing any more.
func (u *update) prune() error {
	return journal.Walk(func(path string, _ fs.DirEntry) error {
		if u.made[path] {
			return nil
		}
		return os.Remove(path)
	}, u.Root.Derived())
}

// audits derives what the figures of texts say.
func (u *update) audits() error {
	byEntry := map[string]*audit.File{}
	for _, a := range u.Audits {
		byEntry[a.Entry] = a
		if err := encoded(u.Root.Audit(a.Entry), a, u.put); err != nil {
			return err
		}
	}
	u.book = &chart.Book{Experiments: map[string]*experiment.Experiment{}, Names: pages.HostNames(u.Hosts),
		Runs: map[string]map[string]chart.Run{}, Sums: map[string]*pages.Hosts{}, Audits: byEntry}
	return nil
}

// whole derives what is said of all experiments together, and what pages are told of the
// lab.
func (u *update) whole() error {
	ledger := pages.NewLedger()
	for _, x := range u.Experiments {
		ledger.Add(x, u.book.Sums[x.Name])
	}
	for path, v := range map[string]any{
		u.Root.Metrics(): metric.Document(), u.Root.Names(): map[string][]glossary{"kinds": names()},
		u.Root.Method(): pages.Rules(),
		u.Root.Reach():  reach(u.Experiments), u.Root.Ledger(): ledger,
		u.Root.Derived("pages", "score.json"):      ledger.Score(),
		u.Root.Derived("pages", "host_names.json"): u.book.Names,
	} {
		if err := encoded(path, v, u.put); err != nil {
			return err
		}
	}
	sheet, err := ledger.CSV()
	if err != nil {
		return err
	}
	return u.put(u.Root.LedgerSheet(), sheet)
}

// put writes a file, unless it is there with the same bytes, so that `hugo server` sees what
// has changed alone. Another lab may do the same at the same time.
func (u *update) put(path string, data []byte) error {
	u.made[path] = true
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return strict.Replace(path, data)
}
