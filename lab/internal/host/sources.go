package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
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
	if _, err := os.Stat(filepath.Join(top, "go.mod")); os.IsNotExist(err) {
		return "", nil // any other error shows again in the walk
	}
	var paths []string
	err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
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
	has := map[string]bool{}
	for _, p := range paths {
		has[p] = true
	}
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
var tables = []string{"lab/servers.toml", "lab/internal/metric/metrics.toml"}

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

// measured are the main packages, below lab/, of the programs that are measured or
// that measure. What a record of figures holds is told by these, and never by the lab's
// own program, which does not change what a request costs.
var measured = []string{"fiber", "null", "floor", "cmd/http_load", "study/producer", "study/sink"}

// modules are the modules below lab/, beside the lab's own, from which these programs are
// built. The peers are not among them: each run has the digest of the file.
var modules = []string{"batch", "fiber", "floor", "null", "study"}

// parts gives digests of what a checkout's measured programs are made of: by the name of
// its main package, the files that the compiler takes from lab/ for it and for the packages that
// it imports, and by its name each profile that the compiler may be given. All files of a
// package count, also those for other systems, so that a host of another kind gives the
// same digest. Modules are not among them: a program says itself which it holds.
func parts(root string) (map[string]string, error) {
	top, err := filepath.Abs(filepath.Join(root, "lab"))
	if err != nil {
		return nil, err
	}
	there := map[string][]string{} // main packages by the directory of their module
	for _, name := range measured {
		if _, err := os.Stat(filepath.Join(top, name)); err != nil {
			continue
		}
		dir, rest, _ := strings.Cut(name, "/")
		if _, err := os.Stat(filepath.Join(top, dir, "go.mod")); err != nil {
			dir, rest = ".", name
		}
		there[dir] = append(there[dir], "./"+rest)
	}
	out := map[string]string{}
	own := map[string]pkg{} // by import path
	for _, dir := range slices.Sorted(maps.Keys(there)) {
		if err := list(own, top, dir, there[dir]); err != nil {
			return nil, err
		}
	}
	for _, p := range own {
		rel, _ := filepath.Rel(top, p.Dir)
		if !slices.Contains(measured, filepath.ToSlash(rel)) {
			continue
		}
		h := sha256.New()
		for _, at := range slices.Sorted(slices.Values(append(p.Deps, p.ImportPath))) {
			of := own[at]
			files := slices.Concat(of.GoFiles, of.CgoFiles, of.IgnoredGoFiles, of.CFiles, of.HFiles, of.SFiles, of.EmbedFiles)
			for _, file := range slices.Sorted(slices.Values(files)) {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				sum, err := Digest(filepath.Join(of.Dir, file))
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(h, "%s  %s %s\n", sum, at, file)
			}
		}
		out[filepath.Base(rel)] = hex.EncodeToString(h.Sum(nil))
	}
	profiles, _ := filepath.Glob(filepath.Join(top, "*", "pgo", "*.pgo"))
	for _, profile := range profiles {
		if out[filepath.Base(profile)], err = Digest(profile); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// A pkg is a package as go list has it.
type pkg struct {
	ImportPath, Dir                                                             string
	Standard                                                                    bool
	Deps, GoFiles, CgoFiles, IgnoredGoFiles, CFiles, HFiles, SFiles, EmbedFiles []string
}

// list adds to own those packages below top, by import path, of which programs of a module
// there are made.
func list(own map[string]pkg, top, module string, programs []string) error {
	const fields = "ImportPath,Dir,Standard,Deps,GoFiles,CgoFiles,IgnoredGoFiles,CFiles,HFiles,SFiles,EmbedFiles"
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=" + fields}, programs...)...)
	cmd.Dir = filepath.Join(top, module)
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	text, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if rel, err := filepath.Rel(top, p.Dir); err == nil && !p.Standard && filepath.IsLocal(rel) {
			own[p.ImportPath] = p
		}
	}
}

// composed is a digest of all that a program is made of: its files, as its stamp has them,
// the modules in it, and the compiler with its settings. It is empty for a program whose
// stamp does not have it.
func composed(info *debug.BuildInfo, parts, settings map[string]string) string {
	files := parts[path.Base(info.Path)]
	if files == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, files, info.GoVersion)
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintln(h, name, settings[name], parts[settings[name]])
	}
	for _, d := range info.Deps {
		if d.Replace == nil { // what replaces one is in lab/, and among the files
			fmt.Fprintln(h, d.Path, d.Version, d.Sum)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
