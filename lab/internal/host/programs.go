package host

import (
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

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// autocannon is the one program that is not a file but a set of node packages.
const autocannon = "autocannon"

// Loader loads servers.
const Loader = "http_load"

// built is where make puts programs, from the root.
const built = ".tools/bin/"

// Called is the name under which a program is recorded: its path from the root, or as it is found in PATH,
// and of what make builds the bare name.
func Called(program string) string { return strings.TrimPrefix(program, built) }

// A Binary identifies a program as it was when it ran. Programs are built without their directory and, if
// they are measured, without their commit: the same sources, modules and compiler give the same file.
type Binary struct {
	SHA256 string `json:"sha256"`
	// MadeOf stands for the file where another file measures the same: of what loads servers it is a
	// digest of its version, and in earlier runs of all that a program was made of.
	MadeOf  string `json:"made_of,omitempty"`
	Version string `json:"version,omitempty"`

	// Of earlier runs only.
	Sources  string            `json:"sources_sha256,omitempty"`
	Commit   string            `json:"commit,omitempty"`
	Modified bool              `json:"modified,omitempty"`
	Build    map[string]string `json:"build,omitempty"`
}

// Same reports whether two are one program: the same file, or made of the same.
func (b Binary) Same(o Binary) bool {
	return b.SHA256 == o.SHA256 || b.MadeOf != "" && b.MadeOf == o.MadeOf
}

// Measured reports whether a program, by its name in a run, is measured or measures. The
// lab only starts it, and node is a tool, as the kernel is one: its version is recorded.
func Measured(name string) bool { return name != "lab" && name != "node" }

// Environment is the environment that the programs of an earlier run had. Today's is proc's.
type Environment struct {
	Set    map[string]string `json:"set,omitempty"`
	Passed []string          `json:"passed,omitempty"`
}

// Programs are the files that a run starts, as they were before it.
type Programs struct {
	files map[string]installed
	tools map[string]string
}

type installed struct {
	path   string
	info   os.FileInfo
	binary Binary
}

// FindPrograms looks up programs: lab, which is the path of the running one, autocannon, or any program by
// its path from the root, or by its name among those that make builds or in PATH.
func FindPrograms(root, lab string, names []string) (*Programs, error) {
	p := &Programs{map[string]installed{}, map[string]string{}}
	for _, name := range names {
		at := name
		if name == "lab" {
			at = lab
		}
		found, err := p.find(root, at)
		if err != nil {
			return nil, err
		}
		p.files[Called(name)] = found
	}
	return p, nil
}

// Told describes a program as it is here now by its name in a run; false if it is not there.
func Told(root, name string) (Binary, bool) {
	found, err := (&Programs{tools: map[string]string{}}).find(root, name)
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

// Tools gives versions by tool: of Go, node and the load generators, read from the programs themselves.
func (p *Programs) Tools() map[string]string { return p.tools }

// Changed is an error if a program changed since before the run, for example by a build.
func (p *Programs) Changed() error {
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		found := p.files[name]
		// Unchanged metadata is enough: reading all programs takes as long as a short slot.
		if info, err := os.Stat(found.path); name == autocannon || err == nil && os.SameFile(info, found.info) &&
			info.Size() == found.info.Size() && info.ModTime().Equal(found.info.ModTime()) {
			continue // only make setup changes autocannon
		}
		if now, err := digest(found.path); err != nil || now != found.binary.SHA256 {
			return fmt.Errorf("%s was replaced during the run, so its figures are of two programs; run again and build "+
				"nothing meanwhile", name)
		}
	}
	return nil
}

// find describes a program, and notes the versions of the tools that it is made of.
func (p *Programs) find(root, name string) (found installed, err error) {
	if name == autocannon {
		return p.packages(root)
	}
	found.path = filepath.Join(root, name)
	if filepath.IsAbs(name) {
		found.path = name
	} else if called := Called(name); !strings.Contains(called, "/") {
		found.path = filepath.Join(root, built, called)
		if in, err := exec.LookPath(name); err == nil && !exists(found.path) {
			found.path = in
		}
	}
	found.info, err = os.Stat(found.path)
	if errors.Is(err, fs.ErrNotExist) {
		return found, fmt.Errorf("%s is neither built nor installed; run make build, or install it", name)
	}
	if err == nil {
		found.binary.SHA256, err = digest(found.path)
	}
	if err != nil {
		return found, err
	}
	if name == "node" {
		cmd := exec.Command(found.path, "--version")
		cmd.Env = proc.Environment()
		version, err := cmd.Output()
		if err != nil {
			return found, fmt.Errorf("node does not run: %w", err)
		}
		p.tools["node"] = strings.TrimPrefix(strings.TrimSpace(string(version)), "v")
	}
	if info, err := buildinfo.ReadFile(found.path); err == nil { // else it is not of Go
		p.tools["go"] = strings.TrimPrefix(info.GoVersion, "go")
		if filepath.Base(found.path) == Loader {
			found.binary.MadeOf = digestOf(setting.HTTPLoadVersion, info.GoVersion)
			p.tools[setting.HTTPLoad] = setting.HTTPLoadVersion
		}
	}
	return found, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// packages describes autocannon, which is made of node packages: the lock file has the digests of all of them.
func (p *Programs) packages(root string) (found installed, err error) {
	found.path = filepath.Join(root, "node_modules", autocannon)
	text, err := os.ReadFile(filepath.Join(found.path, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return found, errors.New("autocannon is not installed; run make setup")
	}
	var about struct{ Version string }
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return found, fmt.Errorf("%s: %w", filepath.Join(found.path, "package.json"), err)
	}
	lock, err := digest(filepath.Join(root, "package-lock.json"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	p.tools[autocannon] = about.Version
	found.binary = Binary{SHA256: digestOf(about.Version, lock), Version: about.Version}
	return found, err
}

// digest is the SHA-256 of a file.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// digestOf is a digest of some words.
func digestOf(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\n")))
	return hex.EncodeToString(sum[:])
}
