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
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// measured are the main packages, below lab/, of the programs that are measured or
// that measure. What a record of figures holds is told by these, and never by the lab's
// own program, which does not change what a request costs.
var measured = []string{"server", "null", "floor", "load", "producer", "sink"}

// parts gives digests of what a checkout's measured programs are made of: by main
// package, the files that the compiler takes from lab/ for it and for the packages that
// it imports, and by its name each profile that the compiler may be given. All files of a
// package count, also those for other systems, so that a host of another kind gives the
// same digest. Modules are not among them: a program says itself which it holds.
func parts(root string) (map[string]string, error) {
	top, err := filepath.Abs(filepath.Join(root, "lab"))
	if err != nil {
		return nil, err
	}
	var there []string
	for _, name := range measured {
		if _, err := os.Stat(filepath.Join(top, name)); err == nil {
			there = append(there, "./"+name)
		}
	}
	out := map[string]string{}
	if len(there) == 0 {
		return out, nil
	}
	const fields = "ImportPath,Dir,Standard,Deps,GoFiles,CgoFiles,IgnoredGoFiles,CFiles,HFiles,SFiles,EmbedFiles"
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=" + fields}, there...)...)
	cmd.Dir = top
	cmd.Env = append(cmd.Environ(), "GOWORK=off")
	text, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	type listed struct {
		ImportPath, Dir                                                             string
		Standard                                                                    bool
		Deps, GoFiles, CgoFiles, IgnoredGoFiles, CFiles, HFiles, SFiles, EmbedFiles []string
	}
	own := map[string]listed{} // by import path
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if rel, err := filepath.Rel(top, p.Dir); err == nil && !p.Standard && filepath.IsLocal(rel) {
			own[p.ImportPath] = p
		}
	}
	for _, p := range own {
		rel, _ := filepath.Rel(top, p.Dir)
		if !slices.Contains(measured, filepath.ToSlash(rel)) {
			continue
		}
		h := sha256.New()
		for _, path := range slices.Sorted(slices.Values(append(p.Deps, p.ImportPath))) {
			of := own[path]
			files := slices.Concat(of.GoFiles, of.CgoFiles, of.IgnoredGoFiles, of.CFiles, of.HFiles, of.SFiles, of.EmbedFiles)
			for _, file := range slices.Sorted(slices.Values(files)) {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				sum, err := digest(filepath.Join(of.Dir, file))
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(h, "%s  %s %s\n", sum, path, file)
			}
		}
		out[rel] = hex.EncodeToString(h.Sum(nil))
	}
	profiles, _ := filepath.Glob(filepath.Join(top, "*", "pgo", "*.pgo"))
	for _, path := range profiles {
		if out[filepath.Base(path)], err = digest(path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// composed is a digest of all that a program is made of: its files, as its stamp has them,
// the modules in it, and the compiler with its settings. It is empty for a program whose
// stamp does not have it.
func composed(info *debug.BuildInfo, parts, settings map[string]string) string {
	files := parts[strings.TrimPrefix(info.Path, info.Main.Path+"/")]
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
