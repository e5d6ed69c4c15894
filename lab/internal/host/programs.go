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
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// autocannon is the one program that is not a file but a set of node packages.
const autocannon = "autocannon"

// Loader loads servers. Earlier runs name it as a program of its own.
const Loader, FormerLoader = "linerate", "http_load"

// module is that of the lab's own programs, and the begin of those below it.
const module = "github.com/line-rate/line-rate/lab"

// own are the programs that make builds from the lab's own module and those below it.
var own = []string{"lab", "fiber_server", "null_server", "floor_server", Loader, "event_producer", "event_sink", "event_reader",
	"fanout_server", "fanout_floor"}

// built is where make puts programs, from the root.
const built = ".tools/bin/"

// Called is the name under which a program is recorded: its path from the root,
// or as it is found in PATH, and of what make builds the bare name.
func Called(program string) string { return strings.TrimPrefix(program, built) }

// A Binary identifies a program as it was when it ran. Programs are built without their directory and, if
// they are measured, without their commit: the same sources, modules and compiler give the same file.
type Binary struct {
	SHA256 string `json:"sha256"`
	// MadeOf stands for the file where another file measures the same: of what loads servers it is a
	// digest of its version, and in earlier runs of all that a program was made of.
	MadeOf   string            `json:"made_of,omitempty"`
	Sources  string            `json:"sources_sha256,omitempty"` // of earlier runs only
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

// FindPrograms looks up programs: lab, node, autocannon, another of the lab's own by its name, or any
// program by its path from the root or its name in PATH. lab is the path of the running program.
func FindPrograms(root, lab string, names []string) (*Programs, error) {
	p := &Programs{root, map[string]installed{}}
	for _, name := range names {
		var found installed
		var err error
		switch name {
		case "node":
			found, err = node()
		case "lab":
			found, err = p.built(lab)
		default:
			found, err = p.other(name)
		}
		if err != nil {
			return nil, err
		}
		p.files[Called(name)] = found
	}
	return p, nil
}

// Told describes a program as it is here now by its name in a run; false if it is not there.
func Told(root, name string) (Binary, bool) {
	if _, err := os.Stat(filepath.Join(root, built, name)); err == nil {
		name = built + name
	}
	found, err := (&Programs{root: root}).other(name)
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
		if name == autocannon {
			continue // only make setup changes it
		}
		now, err := Digest(found.path)
		if err != nil || now != found.binary.SHA256 {
			return fmt.Errorf("%s was replaced during the run, so its figures are of two programs; run again and build "+
				"nothing meanwhile", name)
		}
	}
	return nil
}

// other adds autocannon, or a program by its path or by its name in PATH.
func (p *Programs) other(name string) (installed, error) {
	path, version := name, ""
	switch {
	case name == autocannon:
		return p.packages()
	case slices.Contains(own, Called(name)):
		return p.built(filepath.Join(p.root, built, Called(name)))
	case !strings.Contains(name, "/"):
		found, err := exec.LookPath(name)
		if err != nil {
			return installed{}, fmt.Errorf("%s is not installed", name)
		}
		path, version = found, versionOf(found)
	case !filepath.IsAbs(name):
		path = filepath.Join(p.root, name)
	}
	if info, err := buildinfo.ReadFile(path); err == nil && strings.HasPrefix(info.Main.Path, module) {
		return p.built(path)
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
func (p *Programs) built(path string) (installed, error) {
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
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return found, nil // not of Go
	}
	found.binary.Build = map[string]string{}
	for _, set := range info.Settings {
		switch {
		case slices.Contains(compiler, set.Key):
			found.binary.Build[set.Key] = set.Value
		case set.Key == "vcs.revision":
			found.binary.Commit = set.Value
		case set.Key == "vcs.modified":
			found.binary.Modified = set.Value == "true"
		}
	}
	if filepath.Base(path) == Loader {
		found.binary.MadeOf = digestOf(setting.HTTPLoadVersion, info.GoVersion)
	}
	return found, nil
}

// digestOf is a digest of some words.
func digestOf(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return hex.EncodeToString(sum[:])
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

// packages adds autocannon, which is made of node packages: the lock file has the digests of all of them.
func (p *Programs) packages() (installed, error) {
	dir := filepath.Join(p.root, "node_modules", autocannon)
	var about struct{ Version string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return installed{}, errors.New("autocannon is not installed; run make setup")
	}
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return installed{}, fmt.Errorf("%s: %w", filepath.Join(dir, "package.json"), err)
	}
	lock, err := Digest(filepath.Join(p.root, "package-lock.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return installed{}, err
	}
	return installed{path: dir, binary: Binary{SHA256: digestOf(about.Version, lock), Version: about.Version}}, nil
}

// Environment describes the environment of the programs that the lab starts.
func (*Programs) Environment() *Environment {
	return &Environment{Set: maps.Clone(proc.Set), Passed: slices.Clone(proc.Passed)}
}
