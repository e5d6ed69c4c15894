package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// Sources is the digest of the Go sources in a root's lab/: everything that the
// compiler reads there, for any program. It is empty if there are none, for
// example if only the programs were copied.
//
// It uses contents, not times, which a checkout, a copy or a restored backup
// all change.
func Sources(root string) (string, error) {
	top := filepath.Join(root, "lab")
	module, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if os.IsNotExist(err) { // any other error shows again in the walk
		return "", nil
	}
	h := sha256.New()
	err = filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if file != top && passedOver(root, rel, string(module)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !compiled(rel) {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%x  %s\n", sha256.Sum256(text), rel)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("the lab's sources: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// passedOver tells whether the compiler reads nothing from a directory: because
// of its name, or because it is a separate module that no replacement in
// lab/go.mod, given as text, points to.
func passedOver(root, rel, module string) bool {
	if name := path.Base(rel); name == "testdata" || hidden(name) {
		return true
	}
	_, err := os.Stat(filepath.Join(root, rel, "go.mod"))
	return err == nil && !slices.Contains(strings.Fields(module), "./"+strings.TrimPrefix(rel, "lab/"))
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// compiled tells whether the compiler may read a path.
func compiled(rel string) bool {
	name := path.Base(rel)
	if name == "go.mod" || name == "go.sum" {
		return true
	}
	return !hidden(name) && !strings.HasSuffix(name, "_test.go") && slices.Contains([]string{".go", ".s", ".pgo"}, path.Ext(name))
}

// BuildTags gives the build tags for a root's programs, given those of the last
// build. Tags that are still true are kept, so that a commit of something else
// does not link everything again.
func BuildTags(root, last string) (string, error) {
	sources, err := Sources(root)
	if err != nil {
		return "", err
	}
	if sources == "" {
		return "", fmt.Errorf("%s: no lab/go.mod; give the root of a checkout", root)
	}
	commit, differ := differ(root, compiled)
	if commit == UnknownCommit {
		commit = ""
	}
	now := program.Stamp{Sources: sources, Commit: commit, Modified: len(differ) > 0}
	if was := program.ParseStamp(last); was.Sources == sources && (!was.Modified || now.Modified) {
		return last, nil
	}
	return now.String(), nil
}
