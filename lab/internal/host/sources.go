package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Sources is the digest of the Go sources in a root's lab/: everything that the
// compiler reads there, for any program. It is empty if there are none, for
// example if only the programs were copied.
//
// It uses contents, not times, which a checkout, a copy or a restored backup
// all change.
func Sources(root string) (string, error) {
	top := filepath.Join(root, "lab")
	if _, err := os.Stat(filepath.Join(top, "go.mod")); os.IsNotExist(err) {
		return "", nil // any other error shows again in the walk
	}
	var paths []string
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file) // the walk begins below the root
		rel = filepath.ToSlash(rel)
		if !d.IsDir() {
			paths = append(paths, rel)
			return nil
		}
		if name := path.Base(rel); file != top && unread(name) {
			return filepath.SkipDir // it may be large
		}
		return nil
	})
	var sum string
	if err == nil {
		sum, err = SourcesOf(paths, func(rel string) (is [sha256.Size]byte, err error) {
			text, err := os.ReadFile(filepath.Join(root, rel))
			return sha256.Sum256(text), err
		})
	}
	if err != nil {
		return "", fmt.Errorf("the lab's sources: %w", err)
	}
	return sum, nil
}

// SourcesOf is the digest that Sources gives for a tree, such as a commit's,
// with these files in lab/. The paths are from the root. sum gives the SHA-256 of a
// file, and is asked only for what the compiler reads.
func SourcesOf(paths []string, sum func(path string) ([sha256.Size]byte, error)) (string, error) {
	has := strict.Set(paths, func(p string) string { return p })
	// The order in which directories are walked.
	paths = slices.SortedFunc(slices.Values(paths), func(a, b string) int {
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	h := sha256.New()
	for _, p := range paths {
		if !compiled(p) || passedOver(path.Dir(p), has) {
			continue
		}
		is, err := sum(p)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%x  %s\n", is, p)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// passedOver reports whether the compiler reads nothing from a directory of lab/ for the
// lab's programs: because of a name, or because it is in a module of others.
func passedOver(dir string, has map[string]bool) bool {
	for ; strings.HasPrefix(dir, "lab/"); dir = path.Dir(dir) {
		if unread(path.Base(dir)) || has[dir+"/go.mod"] && !slices.Contains(modules, strings.TrimPrefix(dir, "lab/")) {
			return true
		}
	}
	return false
}

func unread(name string) bool { return name == "testdata" || hidden(name) }

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// tables are files that the lab's programs hold.
var tables = []string{"lab/servers.toml", "lab/internal/experiment/kinds.toml", "lab/internal/gate/gates.toml",
	"lab/internal/law/laws.toml", "lab/internal/metric/metrics.toml", "lab/internal/profile/kernel/calls.txt", "lab/internal/profile/works.toml",
	"lab/internal/profiles/groups.toml", "lab/internal/profiles/kinds.toml", "lab/internal/setting/settings.toml"} // of earlier commits too

// compiled tells whether the compiler may read a path.
func compiled(rel string) bool {
	name := path.Base(rel)
	if slices.Contains(tables, rel) || name == "go.mod" || name == "go.sum" {
		return true
	}
	return !hidden(name) && !strings.HasSuffix(name, "_test.go") &&
		slices.Contains([]string{".go", ".s", ".pgo"}, path.Ext(name))
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
	if now.Parts, err = parts(root); err != nil {
		return "", err
	}
	was := program.ParseStamp(last)
	if was.Sources == sources && maps.Equal(was.Parts, now.Parts) && (!was.Modified || now.Modified) {
		return last, nil
	}
	return now.String(), nil
}
