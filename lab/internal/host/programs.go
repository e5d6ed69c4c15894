package host

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// autocannon is the one program that is not a file but a set of node packages.
const autocannon = "autocannon"

// module is that of the lab's own programs.
const module = "github.com/line-rate/line-rate/lab"

// Loader loads servers. Earlier runs name it as a program of its own.
const Loader, FormerLoader = "linerate", "http_load"

// own are the programs without which there is no lab. Each says from which
// sources in lab/ it was built.
var own = []string{"lab", "fiber_server", "null_server", Loader, "event_producer", "event_sink", "event_reader",
	"fanout_server", "fanout_floor"}

// Own tells whether a program has to say from which sources it was built.
func Own(name string) bool { return slices.Contains(own, name) }

// ours reports whether programs of a module are the lab's.
func ours(of string) bool {
	return of == module || slices.Contains(modules, strings.TrimPrefix(of, module+"/"))
}

// built is where make puts programs, from the root.
const built = ".tools/bin/"

// Called is the name under which a program is recorded: its path from the root,
// or as it is found in PATH, and of what make builds the bare name.
func Called(program string) string { return strings.TrimPrefix(program, built) }

// A Binary identifies a program as it was when it ran.
type Binary struct {
	SHA256   string            `json:"sha256"`
	MadeOf   string            `json:"made_of,omitempty"`
	Sources  string            `json:"sources_sha256,omitempty"`
	Commit   string            `json:"commit,omitempty"`
	Modified bool              `json:"modified,omitempty"`
	Version  string            `json:"version,omitempty"`
	Build    map[string]string `json:"build,omitempty"`
}

// Same reports whether two are one program: the same file, or made of the same.
func (b Binary) Same(o Binary) bool {
	return b.SHA256 == o.SHA256 || b.MadeOf != "" && b.MadeOf == o.MadeOf
}

// Measured reports whether a program, by its name in a run, is measured or measures. The
// lab only starts it, and node is a tool, as the kernel is one: its version is recorded.
func Measured(name string) bool { return name != "lab" && name != "node" }

// Environment is the environment that the programs ran in.
type Environment struct {
	Set    map[string]string `json:"set,omitempty"`
	Passed []string          `json:"passed,omitempty"`
}

// Programs are the files that a run starts, as they were before it.
type Programs struct {
	root  string
	files map[string]installed
}

type installed struct {
	path   string
	info   os.FileInfo // nil for autocannon
	binary Binary
}

// FindPrograms looks up programs: lab, node, autocannon, another of the lab's own
// by its name, or any program by its path from the root or its name in PATH. lab
// is the path of the running program. It refuses a program of the lab's module
// that was built from other sources than those in lab/: its figures would be
// recorded with the wrong commit. Of other programs only the digest is known.
func FindPrograms(root, lab string, names []string) (*Programs, error) {
	sources, err := Sources(root)
	if err != nil {
		return nil, err
	}
	p := &Programs{root, map[string]installed{}}
	for _, name := range names {
		var found installed
		switch name {
		case "node":
			found, err = node()
		case "lab":
			found, err = p.built(lab, sources)
		default:
			found, err = p.other(name, sources)
		}
		if err != nil {
			return nil, err
		}
		p.files[Called(name)] = found
	}
	return p, nil
}

// FindFiles looks up programs that are no part of the lab, by their paths.
func FindFiles(paths []string) (*Programs, error) {
	p := &Programs{files: map[string]installed{}}
	for _, path := range paths {
		found, err := file(path)
		if err != nil {
			return nil, err
		}
		p.files[path] = found
	}
	return p, nil
}

// Told describes a program as it is here now by its name in a run, whatever its sources
// are; false if it is not there.
func Told(root, name string) (Binary, bool) {
	if _, err := os.Stat(filepath.Join(root, built, name)); err == nil {
		name = built + name
	}
	found, err := (&Programs{root: root}).other(name, "")
	return found.binary, err == nil
}

// Binaries describes the programs for a results file.
func (p *Programs) Binaries() map[string]Binary {
	all := map[string]Binary{}
	for name, found := range p.files {
		all[name] = found.binary
	}
	return all
}

// Changed is an error if a program changed since before the run, for example by
// a build.
func (p *Programs) Changed() error {
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		found := p.files[name]
		// Unchanged metadata is enough: reading all programs takes as long as a short
		// slot.
		if info, err := os.Stat(found.path); err == nil && found.info != nil && os.SameFile(info, found.info) &&
			info.Size() == found.info.Size() && info.ModTime().Equal(found.info.ModTime()) {
			continue
		}
		var now string
		var err error
		if name == autocannon {
			now, err = packagesDigest(found.path)
		} else {
			now, err = Digest(found.path)
		}
		if err != nil || now != found.binary.SHA256 {
			return fmt.Errorf("%s was replaced during the run, so its figures are of two programs; run again and build "+
				"nothing meanwhile", name)
		}
	}
	return nil
}

// other adds autocannon, or a program by its path or by its name in PATH.
func (p *Programs) other(name, sources string) (installed, error) {
	path, version := name, ""
	switch {
	case name == autocannon:
		return p.packages()
	case Own(Called(name)):
		return p.built(filepath.Join(p.root, built, Called(name)), sources)
	case !strings.Contains(name, "/"):
		found, err := exec.LookPath(name)
		if err != nil {
			return installed{}, fmt.Errorf("%s is not installed", name)
		}
		path, version = found, versionOf(found)
	case !filepath.IsAbs(name):
		path = filepath.Join(p.root, name)
	}
	if info, err := buildinfo.ReadFile(path); err == nil && ours(info.Main.Path) {
		return p.built(path, sources)
	}
	found, err := file(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, fmt.Errorf("%s is not there", name)
	}
	found.binary.Version = version
	return found, err
}

// versionWithin bounds the wait for a program that may take --version for
// something else.
const versionWithin = 2 * time.Second

// versionOf is the first line of what a program says to --version; empty if it
// does not know it.
func versionOf(path string) string {
	ctx, cancel := context.WithTimeout(context.Background(), versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.WaitDelay = proc.Environment(), time.Second
	out, err := cmd.Output()
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if err != nil || strict.CheckLine(line) != nil {
		return ""
	}
	return line
}

// built adds a program of the lab's own.
func (p *Programs) built(path, sources string) (installed, error) {
	name := path
	if rel, err := filepath.Rel(p.root, path); err == nil && filepath.IsLocal(rel) {
		name = rel
	}
	found, err := file(path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, fmt.Errorf("%s is not built; run make build", name)
	}
	if err != nil {
		return found, err
	}
	var s program.Stamp
	if info, err := buildinfo.ReadFile(path); err == nil {
		found.binary.Build = map[string]string{}
		s = program.StampOf(info)
		for _, set := range info.Settings {
			if slices.Contains(compiler, set.Key) {
				found.binary.Build[set.Key] = set.Value
			}
		}
		found.binary.MadeOf = composed(info, s.Parts, found.binary.Build)
	}
	found.binary.Sources, found.binary.Commit, found.binary.Modified = s.Sources, s.Commit, s.Modified
	switch {
	case sources == "" || s.Sources == sources:
		return found, nil
	case s.Sources == "":
		return found, fmt.Errorf("%s does not say of which sources it was built, as make build has it do; remove it and "+
			"run make build", name)
	}
	return found, fmt.Errorf("%s was built from other sources than lab/ holds now; remove it and run make build", name)
}

// compiler names the build settings that change the code of the same sources.
// None of them contains a directory: the programs are built with -trimpath.
var compiler = []string{"-race", "-msan", "-asan", "-gcflags", "-asmflags", "-pgo", "CGO_ENABLED", "GOAMD64", "GOARM64",
	"GOEXPERIMENT", "GOFIPS140", "DefaultGODEBUG"}

// node asks node for its own file: the one in PATH may be a script that chooses
// a version.
func node() (installed, error) {
	cmd := exec.Command("node", "--print", "process.execPath")
	cmd.Env = proc.Environment()
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return installed{}, errors.New("node is not installed; install Node.js 20.11 or newer, from nodejs.org or by your " +
			"distribution")
	}
	if err != nil {
		return installed{}, fmt.Errorf("node does not run: %w", err)
	}
	return file(strings.TrimSpace(string(out)))
}

func file(path string) (installed, error) {
	info, err := os.Stat(path)
	if err != nil {
		return installed{}, err
	}
	sum, err := Digest(path)
	return installed{path, info, Binary{SHA256: sum}}, err
}

// Digest is the SHA-256 of a file.
func Digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// packages adds autocannon, which is made of node packages.
func (p *Programs) packages() (installed, error) {
	dir := filepath.Join(p.root, "node_modules", autocannon)
	sum, err := packagesDigest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return installed{}, errors.New("autocannon is not installed; run make setup")
	}
	if err != nil {
		return installed{}, err
	}
	of, err := p.driven(dir)
	return installed{path: dir, binary: Binary{SHA256: sum, MadeOf: of}}, err
}

// driven is what stands for a program of node packages in a record: its version, and
// the script of the lab that drives it. What it depends on is in its digest alone.
func (p *Programs) driven(dir string) (string, error) {
	var about struct{ Version string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil || about.Version == "" {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, about.Version)
	sum, err := Digest(filepath.Join(p.root, "lab", "scripts", "trial.sh"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	fmt.Fprintln(h, sum)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// packagesDigest is the digest of all files of a package and of its
// dependencies, found as node finds them.
func packagesDigest(dir string) (string, error) {
	top := filepath.Dir(dir)
	h := sha256.New()
	seen := map[string]bool{}
	var visit func(dir string) error
	visit = func(dir string) error {
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			return err
		}
		var about struct{ Dependencies, OptionalDependencies map[string]string }
		if err := json.Unmarshal(text, &about); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, "package.json"), err)
		}
		if err := files(h, top, dir); err != nil {
			return err
		}
		names := slices.Concat(slices.Collect(maps.Keys(about.Dependencies)),
			slices.Collect(maps.Keys(about.OptionalDependencies)))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if at := lookUp(top, dir, name); at != "" {
				if err := visit(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := visit(dir); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// lookUp finds the directory of a package that is imported from dir; empty if
// it is not installed, as an optional one may be.
func lookUp(top, dir, name string) string {
	for {
		at := filepath.Join(dir, "node_modules", name)
		if dir == top {
			at = filepath.Join(top, name)
		}
		if _, err := os.Stat(filepath.Join(at, "package.json")); err == nil {
			return at
		}
		if dir == top {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// files writes the digest and the name of each file below a directory.
func files(to io.Writer, top, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, err := Digest(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(top, path) // the packages lie below it
		_, err = fmt.Fprintf(to, "%s  %s\n", sum, filepath.ToSlash(rel))
		return err
	})
}

// Environment describes the environment of the programs that the lab starts.
func (*Programs) Environment() *Environment {
	return &Environment{Set: maps.Clone(proc.Set), Passed: slices.Clone(proc.Passed)}
}
