// Package derive makes what follows from the journal's files: verdicts, CSV, trees
// of profiles, claims over all hosts, the ledger, audits, schemas, and for pages what
// they show of each run, the metrics, the method, all names, and how many claims need
// what.
//
// A derived file depends on the journal and the lab alone: the same files give the same
// bytes on any machine at any time. Git holds none of them, so that contributions only
// add files and never conflict.
//
// An experiment is derived anew only if one of its files differs from what it was derived
// from, by digests. One experiment at a time is in memory.
package derive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/judge"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/plot"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Done is what Update had to do.
type Done struct {
	Experiments, Anew int       // all, and those that were derived anew
	Runs              int       // of the latter
	Moved             []Summary // pages whose words do not go with their record
}

// An update brings the derived files of one journal up to date.
type update struct {
	*archive.Journal
	program  string                            // digest of the lab
	declared map[string][]drawing              // by experiment
	cards    map[string]map[string]plot.CardOf // by experiment and page
	beside   map[string][]string               // the experiments of an experiment's page
	byEntry  map[string]*audit.File            // audits
	pages    []page                            // of content
	changed  bool                              // whether anything of an experiment has
	whose    map[string]pages.Whose            // claims that are not the journal's own, by EXPERIMENT/ID
	done     Done
}

// Update derives what has changed since it was last derived, and removes what follows from
// nothing any more. It ends at the first file with a fault, which it names.
func Update(root journal.Root) (Done, error) {
	j, faults, err := archive.Designs(root)
	if err = Refuse(faults, err); err != nil {
		return Done{}, err
	}
	u := &update{Journal: j, cards: map[string]map[string]plot.CardOf{}, beside: map[string][]string{}}
	u.done.Experiments = len(j.Experiments)
	for _, step := range []func() error{
		u.declare, u.begin, u.audits, u.calibrations, u.boards, u.experiments, u.prune, u.together, u.whole, u.moved,
	} {
		if err := step(); err != nil {
			return Done{}, err
		}
	}
	return u.done, nil
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
	return encoded(u.Root.Calibrated(), map[string]any{"tables": all}, put)
}

// boards judges the tables of public boards.
func (u *update) boards() error {
	paths, err := filepath.Glob(filepath.Join(u.Root.Boards(), "*.toml"))
	if err != nil {
		return err
	}
	all := map[string]judge.Judged{}
	for _, path := range paths {
		tables, err := judge.LoadBoard(path)
		if err != nil {
			return fmt.Errorf("%s: %w", u.Root.Rel(path), err)
		}
		maps.Copy(all, tables)
	}
	return encoded(u.Root.Judged(), all, put)
}

// experiments derives what has changed, and then the pages of which another machine has the most
// blocks now.
func (u *update) experiments() error {
	for _, x := range u.Experiments {
		if err := u.experiment(x, false); err != nil {
			return err
		}
	}
	for _, x := range u.Experiments {
		if was := u.inputs(x.Name); was.Shown != was.Blocks.Shown(u.others(x.Name)) {
			if err := u.experiment(x, true); err != nil {
				return err
			}
		}
	}
	return nil
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

// begin removes what another lab derived.
func (u *update) begin() (err error) {
	if u.program, err = program(); err != nil {
		return err
	}
	by := u.Root.Derived("inputs", "lab")
	if was, err := os.ReadFile(by); err == nil && string(was) == u.program {
		return nil
	}
	if err := os.RemoveAll(u.Root.Derived()); err != nil {
		return err
	}
	return put(by, []byte(u.program))
}

// ofRuns are the directories with files of each run, in one for each experiment.
var ofRuns = [][]string{{"data", "verdicts"}, {"data", "results"}, {"data", "flames"}, {"pages", "runs"}}

// experiment derives what follows from an experiment and its runs, if any of that has
// changed, or anyway.
func (u *update) experiment(x *experiment.Experiment, anyway bool) error {
	was := u.inputs(x.Name)
	is, err := u.digest(x, was.Hosts)
	if err != nil {
		return err
	}
	had, err := u.files(x.Name)
	if err != nil || !anyway && is == was.Digest && namesOf(had) == was.Files {
		return err
	}
	if err := Refuse(u.Load(x)); err != nil {
		return err
	}
	if err := os.RemoveAll(u.Root.Derived("inputs", x.Name+".json")); err != nil {
		return err
	}
	made := files{}
	sum, err := u.runs(x, made.put)
	if err != nil {
		return err
	}
	if err := made.only(had...); err != nil {
		return err
	}
	now := inputs{Hosts: u.hosts(), Files: namesOf(slices.Collect(maps.Keys(made))), Blocks: sum.Blocks,
		Shown: sum.Blocks.Shown(u.others(x.Name))}
	if now.Digest, err = u.digest(x, now.Hosts); err != nil {
		return err
	}
	data, err := json.Marshal(now)
	if err != nil {
		return err
	}
	u.done.Anew++
	u.done.Runs += len(u.Runs)
	u.changed = true
	return put(u.Root.Derived("inputs", x.Name+".json"), data)
}

// runs derives the files of the runs that are loaded, all of one experiment, and its
// claims over all hosts.
func (u *update) runs(x *experiment.Experiment, add func(path string, data []byte) error) (*pages.Hosts, error) {
	book := u.book()
	u.decide(x, book)
	sum := book.Sums[x.Name]
	shown := sum.Shows(strict.Called(book.Runs[x.Name], func(of plot.Run) *verdict.File { return of.File }))
	for _, of := range book.Runs[x.Name] {
		r := of.Results
		shows, publish := pages.PageOf(of.File, r), add
		if !shown[of.File.Host] {
			shows.Pack()
			publish = func(path string, data []byte) error { return add(path+".gz", compressed(data)) }
		}
		verdicts, err := encodeLines(pages.Said(of.File), "id")
		page, broken := encodeLines(shows, "id", "seq")
		sheet, bad := r.Sheet()
		text, unread := os.ReadFile(u.Root.Result(r.Experiment, r.Run))
		if err := errors.Join(err, broken, bad, unread); err != nil {
			return nil, fmt.Errorf("%s: %w", u.Root.Rel(u.Root.Result(r.Experiment, r.Run)), err)
		}
		err = errors.Join(publish(u.Root.Verdict(r.Experiment, r.Run), verdicts),
			publish(u.Root.Sheet(r.Experiment, r.Run), sheet), publish(u.Root.Published(r.Experiment, r.Run), text),
			add(u.Root.Run(r.Experiment, r.Run), page), flames(u.Journal, book, u.Then(x, r), r, add))
		if err != nil {
			return nil, err
		}
	}
	ratios, err := book.Claims(x.Name)
	if err == nil && len(ratios) > 0 {
		err = encoded(u.Root.Ratios(x.Name), ratios, add)
	}
	return sum, errors.Join(err, u.draw(book, x.Name, add), encoded(u.Root.Hosts(x.Name), sum, add))
}

// decide adds what is said of the runs that are loaded, all of one experiment, to a book.
func (u *update) decide(x *experiment.Experiment, book *plot.Book) {
	made := said(u.Journal, x)
	for i, r := range u.Runs {
		f := made[i].File
		pages.Fill(f, x)
		f.Each = pages.TrialsOf(r)
		pages.Sizes(f, u.RawSize)
		book.Runs[x.Name] = append(book.Runs[x.Name], plot.Run{File: f, Results: r})
	}
	book.Sums[x.Name] = pages.OverHosts(x, u.whose, made, u.others(x.Name))
}

// encoded adds a value as JSON.
func encoded(path string, v any, add func(path string, data []byte) error) error {
	data, err := results.Encode(v)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return add(path, data)
}

// prune removes what was derived of experiments that are gone.
func (u *update) prune() error {
	has := map[string]bool{"lab": true, "texts": true, several: true}
	for _, x := range u.Experiments {
		has[x.Name] = true
	}
	for _, dir := range append([][]string{{"data", "claims"}, {"inputs"}, {"pages", "ratios"}, {"pages", "figures", "*"},
		{"pages", "cards", "*"}}, ofRuns...) {
		all, err := filepath.Glob(u.Root.Derived(append(dir, "*")...))
		if err != nil {
			return err
		}
		for _, path := range all {
			if !has[strings.TrimSuffix(filepath.Base(path), ".json")] {
				u.changed = true
				if err := os.RemoveAll(path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// audits derives what the figures of texts say. Texts are few, so all are read each time.
func (u *update) audits() error {
	if err := Refuse(u.LoadTexts()); err != nil {
		return err
	}
	made := files{}
	u.byEntry = map[string]*audit.File{}
	var faults []error
	for _, a := range u.Audits {
		u.byEntry[a.Entry] = a
		faults = append(faults, encoded(u.Root.Audit(a.Entry), a, made.put))
	}
	if err := errors.Join(append(faults, u.draw(u.book(), "", made.put))...); err != nil {
		return err
	}
	return made.only(u.Root.Audit("*"), u.Root.Figures("*", ""))
}

// files are those that were made.
type files map[string]bool

func (made files) put(path string, data []byte) error {
	made[path] = true
	return put(path, data)
}

// only removes files of some names that were not made.
func (made files) only(names ...string) error {
	for _, name := range names {
		had, err := filepath.Glob(name)
		for _, p := range had {
			if err == nil && !made[p] {
				err = os.Remove(p)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// whole derives what is said of all experiments together, and what pages are told of the
// lab, if an experiment has changed.
func (u *update) whole() error {
	if _, none := os.Stat(u.Root.LedgerSheet()); !u.changed && none == nil {
		return nil
	}
	ledger := pages.NewLedger()
	for _, x := range u.Experiments {
		sum, err := OverHosts(u.Root, x)
		if err != nil {
			return err
		}
		ledger.Add(x, sum)
	}
	for path, v := range map[string]any{
		u.Root.Metrics(): metric.Document(), u.Root.Names(): map[string][]glossary{"kinds": names()},
		u.Root.Method(): pages.Rules(),
		u.Root.Reach():  reach(u.Experiments), u.Root.Ledger(): ledger,
		u.Root.Derived("pages", "score.json"): ledger.Score(),
	} {
		if err := encoded(path, v, put); err != nil {
			return err
		}
	}
	sheet, err := ledger.CSV()
	if err != nil {
		return err
	}
	return put(u.Root.LedgerSheet(), sheet) // last, since it tells that all of this was made
}

// OverHosts reads what was derived of an experiment's claims over all hosts.
func OverHosts(root journal.Root, x *experiment.Experiment) (*pages.Hosts, error) {
	data, err := os.ReadFile(root.Hosts(x.Name))
	h := &pages.Hosts{}
	if err == nil {
		err = json.Unmarshal(data, h)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root.Rel(root.Hosts(x.Name)), err)
	}
	return h, nil
}

// put writes a file, unless it is there with the same bytes. Another lab may do the same
// at the same time.
func put(path string, data []byte) error {
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return strict.Replace(path, data)
}

// hosts lists the hosts of the runs that are loaded.
func (u *update) hosts() (ids []string) {
	for _, r := range u.Runs {
		ids = append(ids, r.Hosts.Server)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// said is what each run of an experiment says, in the journal's order.
func said(j *archive.Journal, x *experiment.Experiment) (made []pages.Made) {
	asked := j.Question(x)
	for _, r := range j.Runs {
		if r.Experiment == x.Name {
			f := asked.Decide(x, j.Hosts[r.Hosts.Server], j.Record(x, r))
			made = append(made, pages.Made{File: f, Then: j.Then(x, r)})
		}
	}
	return made
}
