package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// measured are the packages, below lab/, of the programs that are measured or
// that measure. What a record of figures holds is told by these, and never by the lab's
// own program, which does not change what a request costs.
var measured = []string{"fiber", "null", "floor", "internal/loader", "study/producer", "study/sink", "fanout",
	"fanout/epoll", "fanout/reader"}

// modules are the modules below lab/, beside the lab's own, from which these programs are
// built. The peers are not among them: each run has the digest of the file.
var modules = []string{"batch", "fanout", "fiber", "floor", "null", "study"}

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
	name := path.Base(info.Path)
	if name == Loader { // what else is in it loads no server
		name = "loader"
	}
	files := parts[name]
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
