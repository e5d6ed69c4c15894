// Package derive makes the derived files of the journal: verdicts, CSV, trees
// of profiles, claims over all hosts, the ledger, audits, schemas, and for pages what
// they show of each run, the metrics, the method, all names, and how many claims need
// what.
//
// A derived file depends on the data alone. The same journal gives the same
// bytes on any machine at any time, so a difference means that the data or the
// rules changed. The files are committed, so that a reader sees what a change
// moved.
//
// It needs a journal without faults. All files are made in memory before one is
// written; unchanged files are left alone.
package derive

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/contest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/plot"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// derived makes every derived file, by path: each run's verdicts, CSV and page,
// the trees of its profiles, each experiment's claims over all hosts, the ledger
// of all claims, each text's audit, the schemas, and what pages are told: the
// metrics, the method, all names, and how many claims need what.
func derived(j *archive.Journal) (map[string][]byte, error) {
	out := map[string][]byte{
		j.Root.Schema("results-1"):    results.EarlierSchema(),
		j.Root.Schema("results-2"):    results.Schema(),
		j.Root.Schema("host-1"):       results.EarlierHostSchema(),
		j.Root.Schema("host-2"):       results.HostSchema(),
		j.Root.Schema("experiment-1"): experiment.Schema(),
		j.Root.Schema("text-1"):       audit.Schema(),
		j.Root.Schema("compare-1"):    contest.Schema(),
	}
	add := func(path string, v any) error {
		data, err := results.Encode(v)
		if err != nil {
			return fmt.Errorf("%s: %w", j.Root.Rel(path), err)
		}
		out[path] = data
		return nil
	}
	err := errors.Join(
		add(j.Root.Metrics(), metric.Document()),
		add(j.Root.Names(), map[string][]glossary{"kinds": names()}),
		add(j.Root.Method(), pages.Rules()),
		add(j.Root.Reach(), reach(j.Experiments)))
	book := &plot.Book{Experiments: j.Experiments, Hosts: j.Hosts,
		Runs: map[string][]plot.Run{}, Sums: map[string]*pages.Hosts{}, Audits: map[string]*audit.File{}}
	made, asked := map[string][]pages.Made{}, map[string]*verdict.Question{} // by experiment
	for _, r := range j.Runs {
		x, missing := j.Experiment(r.Experiment)
		if missing != nil {
			return nil, missing
		}
		if asked[x.Name] == nil {
			asked[x.Name] = j.Question(x)
		}
		said := asked[x.Name].Decide(x, j.Hosts[r.Hosts.Server], j.Record(x, r))
		pages.Fill(said, x)
		said.Each = pages.TrialsOf(r)
		pages.Sizes(said, j.RawSize)
		shown := pages.PageOf(said, r)
		book.Runs[x.Name] = append(book.Runs[x.Name], plot.Run{File: said, Results: r, Fleet: shown.Results.Fleet})
		page, broken := encodePage(shown)
		err = errors.Join(err, broken, add(j.Root.Verdict(r.Experiment, r.Run), said))
		out[j.Root.Run(r.Experiment, r.Run)] = page
		made[x.Name] = append(made[x.Name], pages.Made{File: said, Then: j.Then(x, r)})
		path := j.Root.Sheet(r.Experiment, r.Run)
		data, broken := r.Sheet()
		if broken != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", j.Root.Rel(path), broken))
		}
		out[path] = data
		err = errors.Join(err, flames(j, j.Then(x, r), r, func(path string, data []byte) { out[path] = data }))
	}
	ledger := pages.NewLedger()
	for _, x := range j.Experiments {
		sum := pages.OverHosts(x, made[x.Name])
		ledger.Add(x, sum)
		book.Sums[x.Name] = sum
		err = errors.Join(err, add(j.Root.Hosts(x.Name), sum))
	}
	sheet, broken := ledger.CSV()
	out[j.Root.LedgerSheet()] = sheet
	err = errors.Join(err, broken, add(j.Root.Ledger(), ledger))
	for _, a := range j.Audits {
		book.Audits[a.Entry] = a
		err = errors.Join(err, add(j.Root.Audit(a.Entry), a))
	}
	return out, errors.Join(err, figures(j, book, add))
}

// stale lists the files of verdicts, CSV, pages, trees, claims and audits whose source
// no longer exists, each with that source.
func stale(j *archive.Journal, derived map[string][]byte) (map[string]string, error) {
	out := map[string]string{}
	for _, kind := range []struct{ dir, ext, why string }{
		{"verdicts", ".json", "its run is gone"},
		{"csv", ".csv", "its run is gone"},
		{"runs", ".json", "its run is gone"},
		{"flames", ".json", "its profile is gone"},
		{"audits", ".json", "its text is gone"},
		{"claims", ".json", "its experiment is gone"},
		{"cards", ".json", "its page declares none"},
		{"ratios", ".json", "its claims have none"},
		{"figures", ".json", "its page declares none"},
	} {
		have, err := j.Root.Files(kind.dir, kind.ext)
		if err != nil {
			return nil, err
		}
		for _, p := range have {
			if derived[p] == nil {
				out[p] = kind.why
			}
		}
	}
	return out, nil
}

// foreign lists the files of data/ that are neither data nor derived. Write
// leaves them alone: it did not make them.
func foreign(j *archive.Journal, derived map[string][]byte, stale map[string]string) ([]string, error) {
	have, err := j.Root.Derived()
	if err != nil {
		return nil, err
	}
	arriving, err := j.Root.Arriving()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(have, func(p string) bool { return derived[p] != nil || stale[p] != "" || arriving[p] }), nil
}

// Drift names the derived files that differ from what the data gives: changed,
// missing, or left over. It also names files of data/ that nothing made.
func Drift(j *archive.Journal) ([]string, error) {
	want, err := derived(j)
	if err != nil {
		return nil, err
	}
	gone, err := stale(j, want)
	if err != nil {
		return nil, err
	}
	var drift []string
	for p, why := range gone {
		drift = append(drift, j.Root.Rel(p)+": "+why)
	}
	others, err := foreign(j, want, gone)
	if err != nil {
		return nil, err
	}
	for _, p := range others {
		drift = append(drift, j.Root.Rel(p)+": neither data nor derived from it; remove it")
	}
	for path, data := range want {
		got, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			drift = append(drift, j.Root.Rel(path)+": missing")
		case err != nil:
			return nil, err
		case !bytes.Equal(got, data):
			drift = append(drift, j.Root.Rel(path)+": differs from what the data gives")
		}
	}
	sort.Strings(drift)
	return drift, nil
}

// Write writes all derived files and removes the stale ones.
func Write(j *archive.Journal) error {
	want, err := derived(j)
	if err != nil {
		return err
	}
	gone, err := stale(j, want)
	if err != nil {
		return err
	}
	for p := range gone {
		if err := os.Remove(p); err != nil {
			return err
		}
	}
	for path, data := range want {
		if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, data) {
			continue
		}
		if err := results.Replace(j.Root.Scratch(), path, data); err != nil {
			return err
		}
	}
	return nil
}
