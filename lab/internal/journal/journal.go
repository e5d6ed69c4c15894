// Package journal knows the repository's layout, and is the only place that
// spells its paths.
//
// A path is made from names, whether the file exists or not. This package
// imports only the standard library, so that asking for a path does not pull in
// the code that reads the file.
//
// It lists files but never opens one: package archive reads them, and package
// derive makes the derived ones.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Root is the repository's top directory.
type Root string

// Find finds the repository from a directory upwards.
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
			return "", fmt.Errorf("%s is not inside a clone of the journal (no lab/experiments above it); run lab from "+
				"inside the clone", dir)
		}
	}
}

// Path joins the parts of a name to the repository's directory.
func (r Root) Path(parts ...string) string {
	return filepath.Join(append([]string{string(r)}, parts...)...)
}

// The paths of what people wrote and what was measured, which git holds.
func (r Root) Experiments() string           { return r.Path("lab", "experiments") }
func (r Root) Experiment(name string) string { return filepath.Join(r.Experiments(), name+".toml") }
func (r Root) Entry(name string) string      { return r.Path("content", "journal", name+".md") }
func (r Root) Results(x string) string       { return r.Path("data", "results", x) }
func (r Root) Result(x, run string) string   { return filepath.Join(r.Results(x), run+".json") }
func (r Root) Profiles(x string) string      { return r.Path("data", "profiles", x) }
func (r Root) Host(id string) string         { return r.Path("data", "hosts", id+".json") }
func (r Root) Texts() string                 { return r.Path("data", "texts") }
func (r Root) Text(entry string) string      { return filepath.Join(r.Texts(), entry+".toml") }

// Calibration has a row for each comparison of a known truth.
func (r Root) Calibration() string { return r.Path("data", "calibration", "pairs.csv") }

// Packed is the archive that has a raw profile, by the name of that in a run.
func (r Root) Packed(file string) string {
	return r.Path("data", "profiles", filepath.FromSlash(path.Dir(file)+".zip"))
}

// Derived is where everything lies that follows from other files; git ignores it. Of its
// directories, data is published as the site's data, beside what git has there; pages is
// what templates are told; and inputs is what each experiment's files
// were derived from.
func (r Root) Derived(parts ...string) string {
	return r.Path(append([]string{"derived"}, parts...)...)
}

// What is derived of a run: its verdicts, its CSV, and what pages show of it.
func (r Root) Verdict(x, run string) string { return r.Derived("data", "verdicts", x, run+".json") }
func (r Root) Sheet(x, run string) string   { return r.Derived("data", "results", x, run+".csv") }
func (r Root) Run(x, run string) string     { return r.Derived("pages", "runs", x, run+".json") }

// Hosts is the file with an experiment's claims over all hosts, Ledger that with all
// claims, and LedgerSheet the same as CSV. Audit is what a text's figures say of each other.
func (r Root) Hosts(x string) string     { return r.Derived("data", "claims", x+".json") }
func (r Root) Ledger() string            { return r.Derived("data", "ledger.json") }
func (r Root) LedgerSheet() string       { return r.Derived("data", "ledger.csv") }
func (r Root) Audit(entry string) string { return r.Derived("data", "audits", entry+".json") }

// Figures has the charts that a page of content declares.
func (r Root) Figures(page string) string { return r.Derived("pages", "figures", page+".json") }

// The metrics, the method, all names, and the counts of what claims need, for pages.
func (r Root) Metrics() string    { return r.Derived("pages", "metrics.json") }
func (r Root) Names() string      { return r.Derived("pages", "names.json") }
func (r Root) Method() string     { return r.Derived("pages", "method.json") }
func (r Root) Calibrated() string { return r.Derived("pages", "calibration.json") }
func (r Root) Boards() string     { return r.Path("data", "boards") }
func (r Root) Judged() string     { return r.Derived("pages", "boards.json") }
func (r Root) Reach() string      { return r.Derived("pages", "reach.json") }

// Scratch holds unfinished files; it is outside data/ and ignored by git.
func (r Root) Scratch() string { return r.Path(".tools", "scratch") }

// Tried holds runs made for trial only, each by the path that it would have in
// the journal. Nothing reads them.
func (r Root) Tried() Root { return Root(filepath.Join(r.Scratch(), "tried")) }

// LocalName is a file with the name of the machine that the clone is on, where it
// has no id of its own or a person wants another; it is ignored by git.
func (r Root) LocalName() string { return r.Path(".lab-host") }

// Rel shortens a path for messages.
func (r Root) Rel(path string) string {
	if rel, err := filepath.Rel(string(r), path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// Staged holds what a lab that measures has half written.
func (r Root) Staged() string { return filepath.Join(r.Scratch(), "staged") }

// Walk visits the files below some directories, of which any may be missing.
func Walk(visit func(path string, d fs.DirEntry) error, dirs ...string) error {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			return visit(p, d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Files lists a directory's files with an extension, sorted; none if there is
// no such directory. Anything else in it is an error, since it would be ignored
// silently.
func (r Root) Files(dir, ext string) (out []string, err error) {
	err = Walk(func(p string, _ fs.DirEntry) error {
		if !strings.HasSuffix(p, ext) {
			return fmt.Errorf("%s: only %s files belong there", p, ext)
		}
		out = append(out, p)
		return nil
	}, r.Path("data", dir))
	// Sorted without the extension: with it, a name would come after a longer one
	// that begins with it.
	slices.SortFunc(out, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ext), strings.TrimSuffix(b, ext))
	})
	return out, err
}
