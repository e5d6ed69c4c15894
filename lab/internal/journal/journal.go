// Package journal knows where things lie in the repository, and reads them
// together: experiments, hosts, runs. It is the one place that spells a path.
package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Root is the repository's top directory.
type Root string

// Find looks for the repository from a directory upwards.
func Find(dir string) (Root, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(d, "lab", "experiments")); err == nil {
			return Root(d), nil
		}
		if d == filepath.Dir(d) {
			return "", fmt.Errorf("%s is not inside a clone of the journal (no lab/experiments above it); run lab from inside the clone", dir)
		}
	}
}

func (r Root) path(parts ...string) string {
	return filepath.Join(append([]string{string(r)}, parts...)...)
}

// Where things lie.
func (r Root) Experiments() string          { return r.path("lab", "experiments") }
func (r Root) Result(x, run string) string  { return r.path("data", "results", x, run+".json") }
func (r Root) Verdict(x, run string) string { return r.path("data", "verdicts", x, run+".json") }
func (r Root) Sheet(x, run string) string   { return r.path("data", "csv", x, run+".csv") }
func (r Root) Host(id string) string        { return r.path("data", "hosts", id+".json") }
func (r Root) Text(entry string) string     { return r.path("data", "texts", entry+".toml") }
func (r Root) Audit(entry string) string    { return r.path("data", "audits", entry+".json") }

// Hosts is what all hosts' records say of an experiment's claims.
func (r Root) Hosts(x string) string { return r.path("data", "claims", x+".json") }

// Profile is a raw profile by its name in a run, Flame what pages draw of one.
func (r Root) Profile(file string) string {
	return r.path("data", "profiles", filepath.FromSlash(file))
}
func (r Root) Flame(x, run, name string) string {
	return r.path("data", "flames", x, run, name+".json")
}

// Scratch holds what is not finished yet; it is outside data/ and ignored by git.
func (r Root) Scratch() string { return r.path(".tools", "scratch") }

// Rel shortens a path for messages.
func (r Root) Rel(path string) string {
	if rel, err := filepath.Rel(string(r), path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// A Journal is everything the data says, read and checked.
type Journal struct {
	Root        Root
	Experiments []*experiment.Experiment
	Hosts       map[string]*host.Profile
	Runs        []*results.File // by experiment, then run
	Audits      []*audit.File   // by entry; none while anything else is faulty

	raw     map[string]rawFile                // by name from data/profiles; those that the runs name
	designs map[string]*experiment.Experiment // by experiment and SHA-256; those that the runs name
}

// A Fault is one thing wrong with one file.
type Fault struct {
	Path string // from the root
	Err  error
}

// Open reads the whole journal. Faults in data files are collected, so that
// one pass names them all; only a broken experiment ends it at once, because
// every run is read against one.
func Open(root Root) (*Journal, []Fault, error) {
	j := &Journal{Root: root, Hosts: map[string]*host.Profile{}, raw: map[string]rawFile{}, designs: map[string]*experiment.Experiment{}}
	var faults []Fault
	fault := func(path string, err error) {
		// Readers put the path before their message; it is said once.
		msg := strings.TrimPrefix(err.Error(), path+": ")
		faults = append(faults, Fault{root.Rel(path), errors.New(msg)})
	}
	xs, err := experiment.LoadDir(root.Experiments())
	if err != nil {
		return nil, nil, err
	}
	j.Experiments = xs

	hosts, err := files(root.path("data", "hosts"), ".json")
	if err != nil {
		return nil, nil, err
	}
	for _, p := range hosts {
		h, err := results.ReadHost(p)
		if err == nil && h.ID != base(p) {
			err = fmt.Errorf("/id: %q differs from the file's name", h.ID)
		} else if err == nil && p != root.Host(h.ID) {
			err = fmt.Errorf("/id: %q, but the file lies in %s", h.ID, root.Rel(filepath.Dir(p)))
		}
		if err != nil {
			fault(p, err)
			continue
		}
		j.Hosts[h.ID] = h
	}

	runs, err := files(root.path("data", "results"), ".json")
	if err != nil {
		return nil, nil, err
	}
	unreadRuns := map[string]bool{} // by where their profiles would lie
	for _, p := range runs {
		f, err := results.Read(p)
		if err == nil {
			err = j.consistent(p, f)
		}
		if err == nil {
			err = j.rawProfiles(f)
		}
		if err != nil {
			fault(p, err)
			unreadRuns[root.Profile(filepath.Base(filepath.Dir(p))+"/"+base(p))] = true
			continue
		}
		j.Runs = append(j.Runs, f)
	}
	strays, err := j.strays(unreadRuns)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range strays {
		fault(p, errors.New("no run names it; remove it, or add the run"))
	}

	if len(unreadRuns) == 0 { // a run that was not read may be what names a design
		if strays, err = j.strayDesigns(); err != nil {
			return nil, nil, err
		}
		for _, p := range strays {
			fault(p, errors.New("no run was made with it; remove it, or add the run"))
		}
		faults = append(faults, j.moved()...)
	}

	texts, unread, err := audit.LoadDir(root.path("data", "texts"))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range slices.Sorted(maps.Keys(unread)) {
		fault(p, unread[p])
	}
	// A text leans on runs: where one of them is faulty, what the text says of
	// it would only be faulty a second time.
	if len(faults) > 0 {
		return j, faults, nil
	}
	j.Audits, err = audit.Of(texts, j.Runs)
	if found := (*audit.Fault)(nil); errors.As(err, &found) {
		path := root.Text(found.Text)
		if r := found.Run; r != nil {
			path = root.Result(r.Experiment, r.Run)
		}
		fault(path, found.Err)
	}
	return j, faults, nil
}

// Experiment finds an experiment by name.
func (j *Journal) Experiment(name string) (*experiment.Experiment, error) {
	var names []string
	for _, x := range j.Experiments {
		if x.Name == name {
			return x, nil
		}
		names = append(names, x.Name)
	}
	return nil, fmt.Errorf("no experiment %q; there are %s", name, strings.Join(names, ", "))
}

// consistent checks what a schema cannot: that names lead somewhere and that
// the parts of the file agree.
func (j *Journal) consistent(path string, f *results.File) error {
	x, err := j.Experiment(f.Experiment)
	if err != nil {
		return fmt.Errorf("/experiment: %w", err)
	}
	// The whole directory: the verdict of a run further down would be written
	// over that of another.
	if dir := filepath.Dir(path); dir != filepath.Dir(j.Root.Result(f.Experiment, base(path))) {
		return fmt.Errorf("/experiment: %q, but the file lies in %s", f.Experiment, j.Root.Rel(dir))
	}
	if f.Run != base(path) {
		return fmt.Errorf("/run: %q differs from the file's name", f.Run)
	}
	for role, id := range map[string]string{"server": f.Hosts.Server, "client": f.Hosts.Client} {
		if j.Hosts[id] == nil {
			return fmt.Errorf("/hosts/%s: no profile %s", role, j.Root.Rel(j.Root.Host(id)))
		}
	}
	// What was measured is of the design that it was made with, which may be an
	// earlier one. What a text printed is held against the experiment as it is.
	then, err := j.design(f)
	if err != nil {
		return err
	}
	if then != nil {
		x = then
	}
	return f.Check(x)
}

// derived makes every file that follows from others, by path: the verdicts and
// the CSV of each run, the trees of its profiles, each experiment's claims over all
// hosts, the audit of each text, the schemas, and what pages are told of metrics and
// method.
func (j *Journal) derived() (map[string][]byte, error) {
	out := map[string][]byte{
		j.Root.path("static", "schema", "results-1.json"): results.EarlierSchema(),
		j.Root.path("static", "schema", "results-2.json"): results.Schema(),
		j.Root.path("static", "schema", "host-1.json"):    results.HostSchema(),
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
		add(j.Root.path("data", "metrics.json"), metric.Document()),
		add(j.Root.path("data", "method.json"), verdict.Rules()))
	newest := map[string][]*verdict.File{} // of each host, by experiment
	for _, r := range j.Runs {
		x, missing := j.Experiment(r.Experiment)
		if missing != nil {
			return nil, missing
		}
		said := verdict.Decide(x, j.Hosts[r.Hosts.Server], j.Record(x, r))
		err = errors.Join(err, add(j.Root.Verdict(r.Experiment, r.Run), said))
		if j.newest(r) {
			newest[x.Name] = append(newest[x.Name], said)
		}
		path := j.Root.Sheet(r.Experiment, r.Run)
		data, broken := r.Sheet()
		if broken != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", j.Root.Rel(path), broken))
		}
		out[path] = data
		err = errors.Join(err, j.flames(j.Then(x, r), r, func(path string, data []byte) { out[path] = data }))
	}
	for _, x := range j.Experiments {
		err = errors.Join(err, add(j.Root.Hosts(x.Name), verdict.OverHosts(x, newest[x.Name])))
	}
	for _, a := range j.Audits {
		err = errors.Join(err, add(j.Root.Audit(a.Entry), a))
	}
	return out, err
}

// stale lists verdicts, CSV, trees, claims and audits that nothing gives any more, each
// with what is gone.
func (j *Journal) stale(derived map[string][]byte) (map[string]string, error) {
	out := map[string]string{}
	for _, kind := range []struct{ dir, ext, why string }{
		{"verdicts", ".json", "its run is gone"},
		{"csv", ".csv", "its run is gone"},
		{"flames", ".json", "its profile is gone"},
		{"audits", ".json", "its text is gone"},
		{"claims", ".json", "its experiment is gone"},
	} {
		have, err := files(j.Root.path("data", kind.dir), kind.ext)
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

// Drift names the derived files that differ from what the data gives: changed,
// missing, or left over from a run that is gone.
func (j *Journal) Drift() ([]string, error) {
	want, err := j.derived()
	if err != nil {
		return nil, err
	}
	stale, err := j.stale(want)
	if err != nil {
		return nil, err
	}
	var drift []string
	for p, why := range stale {
		drift = append(drift, j.Root.Rel(p)+": "+why)
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

// Derive writes all derived files and removes those that nothing gives.
func (j *Journal) Derive() error {
	want, err := j.derived()
	if err != nil {
		return err
	}
	stale, err := j.stale(want)
	if err != nil {
		return err
	}
	for p := range stale {
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

// files lists the files of one ending below a directory, sorted; none if it is
// absent. Anything else there is a mistake that would be passed over in silence.
func files(dir, ext string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasSuffix(p, ext) {
			return fmt.Errorf("%s: only %s files belong there", p, ext)
		}
		out = append(out, p)
		return nil
	})
	// By name: with its ending, a name would stand after one that it begins.
	slices.SortFunc(out, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ext), strings.TrimSuffix(b, ext))
	})
	return out, err
}

func base(path string) string { return strings.TrimSuffix(filepath.Base(path), ".json") }
