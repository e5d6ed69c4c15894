// Package journal knows the repository's layout, and spells the paths of what git holds. A path follows from names,
// whether the file exists or not.
//
// It imports only the standard library, so that asking for a path does not pull in the code that reads the file:
// package archive does that.
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
func (r Root) Experiment(name string) string { return r.Path("lab", "experiments", name+".toml") }
func (r Root) Entry(name string) string      { return r.Path("content", "journal", name+".md") }
func (r Root) Result(x, run string) string   { return r.Path("data", "results", x, run+".json") }
func (r Root) Profiles() string              { return r.Path("data", "profiles") }
func (r Root) Host(id string) string         { return r.Path("data", "hosts", id+".json") }
func (r Root) Text(entry string) string      { return r.Path("data", "texts", entry+".toml") }

// Packed is the archive that has a raw profile, by the name of that in a run.
func (r Root) Packed(file string) string {
	return r.Path("data", "profiles", filepath.FromSlash(path.Dir(file)+".zip"))
}

// Derived is where everything lies that follows from other files; git ignores it. The site
// publishes its directory data, beside what git has there. Its directory pages is for templates.
func (r Root) Derived(parts ...string) string {
	return r.Path(append([]string{"derived"}, parts...)...)
}

// Scratch holds unfinished files; it is outside data/ and ignored by git. Staged holds what a lab that measures has
// half written.
func (r Root) Scratch() string { return r.Path(".tools", "scratch") }
func (r Root) Staged() string  { return r.Path(".tools", "scratch", "staged") }

// Tried holds runs made for trial only, each by the path that it would have in the journal. Nothing reads them.
func (r Root) Tried() Root { return Root(r.Path(".tools", "scratch", "tried")) }

// Rel shortens a path for messages.
func (r Root) Rel(path string) string {
	if rel, err := filepath.Rel(string(r), path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// Walk visits the files below a directory, which may be missing.
func Walk(dir string, visit func(path string) error) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil || d.IsDir():
			return err
		}
		return visit(p)
	})
}

// Files lists a directory's files with an extension, sorted; none if there is no such directory. Anything else in
// it is an error, since it would be ignored silently.
func (r Root) Files(dir, ext string) (out []string, err error) {
	err = Walk(r.Path("data", dir), func(p string) error {
		if !strings.HasSuffix(p, ext) {
			return fmt.Errorf("%s: only %s files belong there", p, ext)
		}
		out = append(out, p)
		return nil
	})
	// Sorted without the extension: with it, a name would come after a longer one that begins with it.
	slices.SortFunc(out, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ext), strings.TrimSuffix(b, ext))
	})
	return out, err
}
