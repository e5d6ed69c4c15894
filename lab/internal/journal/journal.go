// Package journal knows where things lie in the repository, and is the one place
// that spells a path.
//
// Its stance: a path is made of names, whether anything lies there or not. Who only
// asks where something belongs need not depend on what reads it, so this imports
// nothing but the standard library.
//
// Its limits: it lists files and never opens one. What is in them is package
// archive's, what follows from them package derive's.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Path is where a file of the repository lies, by the parts of its name.
func (r Root) Path(parts ...string) string {
	return filepath.Join(append([]string{string(r)}, parts...)...)
}

// Where things lie.
func (r Root) Experiments() string          { return r.Path("lab", "experiments") }
func (r Root) Result(x, run string) string  { return r.Path("data", "results", x, run+".json") }
func (r Root) Verdict(x, run string) string { return r.Path("data", "verdicts", x, run+".json") }
func (r Root) Sheet(x, run string) string   { return r.Path("data", "csv", x, run+".csv") }
func (r Root) Host(id string) string        { return r.Path("data", "hosts", id+".json") }
func (r Root) Texts() string                { return r.Path("data", "texts") }
func (r Root) Text(entry string) string     { return filepath.Join(r.Texts(), entry+".toml") }
func (r Root) Audit(entry string) string    { return r.Path("data", "audits", entry+".json") }

// Hosts is what all hosts' records say of an experiment's claims.
func (r Root) Hosts(x string) string { return r.Path("data", "claims", x+".json") }

// Profile is a raw profile by its name in a run, Flame what pages draw of one.
func (r Root) Profile(file string) string {
	return r.Path("data", "profiles", filepath.FromSlash(file))
}
func (r Root) Flame(x, run, name string) string {
	return r.Path("data", "flames", x, run, name+".json")
}

// Design is where the text of an experiment's file is kept by its SHA-256, as
// runs were made with it. That a claim was changed after a run shows by it.
func (r Root) Design(sum string) string { return r.Path("data", "designs", sum+".toml") }

// What pages are told of metrics and method, and the schemas that are published.
func (r Root) Metrics() string           { return r.Path("data", "metrics.json") }
func (r Root) Method() string            { return r.Path("data", "method.json") }
func (r Root) Schema(name string) string { return r.Path("static", "schema", name+".json") }

// Scratch holds what is not finished yet; it is outside data/ and ignored by git.
func (r Root) Scratch() string { return r.Path(".tools", "scratch") }

// Rel shortens a path for messages.
func (r Root) Rel(path string) string {
	if rel, err := filepath.Rel(string(r), path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// Pending is where the complete blocks of runs lie that are not over. Each version
// of such a run is a directory, <experiment>/<version>, with the files under the
// names that they will have from the repository's top.
func (r Root) Pending() string { return filepath.Join(r.Scratch(), "pending") }

// Refused is where runs lie that were pending and could not be added.
func (r Root) Refused() string { return filepath.Join(r.Pending(), "refused") }

// Arriving are the files that pending runs will have here. A lab that was killed
// while it added one has left some of them, and they are nobody's fault.
func (r Root) Arriving() (map[string]bool, error) {
	out := map[string]bool{}
	versions, err := filepath.Glob(filepath.Join(r.Pending(), "*", "*", "data"))
	if err != nil {
		return nil, err
	}
	for _, data := range versions {
		version := filepath.Dir(data)
		if filepath.Dir(version) == r.Refused() {
			continue
		}
		err := filepath.WalkDir(data, func(p string, d fs.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil // it was added meanwhile
			}
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(version, p)
			out[r.Path(rel)] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Files lists the files of one ending in a directory of data/, sorted; none if it is
// absent. Anything else there is a mistake that would be passed over in silence.
func (r Root) Files(dir, ext string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(r.Path("data", dir), func(p string, d fs.DirEntry, err error) error {
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
