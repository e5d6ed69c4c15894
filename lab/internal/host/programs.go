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

// A Binary identifies a program as it was when it ran. Builds of programs leave out their directory
// and, for measured ones, their commit: the same sources, modules and compiler give the same file.
type Binary struct {
	SHA256 string `json:"sha256"`
	// MadeOf replaces the file of a load generator: another of the same version measures the same.
	MadeOf  string `json:"made_of,omitempty"`
	Version string `json:"version,omitempty"`
}

// Same reports whether two are one program: the same file, or made of the same.
func (b Binary) Same(o Binary) bool {
	return b.SHA256 == o.SHA256 || b.MadeOf != "" && b.MadeOf == o.MadeOf
}

// Measured reports whether a program, by its name in a run, is measured or measures. The
// lab only starts it, and node is a tool, as the kernel is one: its version is recorded.
func Measured(name string) bool { return name != "lab" && name != "node" }

// Programs are what a run starts, as it was before it.
type Programs struct {
	Binaries map[string]Binary // by their names in a run
	Tools    map[string]string // versions of Go, node and the load generators

	root string
	at   map[string]string // the path that each should have
}

// FindPrograms looks up programs: lab, which is the path of the running one, autocannon, or any program by
// its path from the root, or by its name among those that make builds or in PATH.
func FindPrograms(root, lab string, names []string) (*Programs, error) {
	p := &Programs{map[string]Binary{}, map[string]string{}, root, map[string]string{}}
	for _, name := range names {
		at := name
		if name == "lab" {
			at = lab
		}
		b, err := Find(root, at)
		if err != nil {
			return nil, err
		}
		p.Binaries[Called(name)], p.at[Called(name)] = b, at
		switch name {
		case autocannon:
			p.Tools[autocannon] = b.Version
		case "node":
			cmd := exec.Command(path(root, name), "--version")
			cmd.Env = proc.Environment()
			version, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("node does not run: %w", err)
			}
			p.Tools["node"] = strings.TrimPrefix(strings.TrimSpace(string(version)), "v")
		case Loader:
			p.Tools[setting.HTTPLoad] = setting.HTTPLoadVersion
		}
		if info, err := buildinfo.ReadFile(path(root, at)); err == nil { // else it is not of Go
			p.Tools["go"] = strings.TrimPrefix(info.GoVersion, "go")
		}
	}
	return p, nil
}

// Changed is an error if a program changed since before the run, for example by a build.
func (p *Programs) Changed() error {
	for name, at := range p.at {
		if now, err := Find(p.root, at); err != nil || now.SHA256 != p.Binaries[name].SHA256 {
			return fmt.Errorf("%s was replaced during the run, so its figures are of two programs; run again and build "+
				"nothing meanwhile", name)
		}
	}
	return nil
}

// path is where a program lies.
func path(root, name string) string {
	called := Called(name)
	if filepath.IsAbs(name) {
		return name
	} else if strings.Contains(called, "/") {
		return filepath.Join(root, name)
	}
	at := filepath.Join(root, built, called)
	if in, err := exec.LookPath(name); err == nil && !exists(at) {
		return in
	}
	return at
}

// Find describes a program as it is here now.
func Find(root, name string) (b Binary, err error) {
	if name == autocannon {
		return packages(root)
	}
	at := path(root, name)
	b.SHA256, err = Digest(at)
	if errors.Is(err, fs.ErrNotExist) {
		return b, fmt.Errorf("%s is neither built nor installed; run make build, or install it", name)
	}
	if err == nil && filepath.Base(at) == Loader {
		if info, err := buildinfo.ReadFile(at); err == nil { // else it is not the lab's
			b.MadeOf = digestOf(setting.HTTPLoadVersion, info.GoVersion)
		}
	}
	return b, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// packages describes autocannon, which is made of node packages: the lock file has the digests of all of them.
func packages(root string) (b Binary, err error) {
	file := filepath.Join(root, "node_modules", autocannon, "package.json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return b, errors.New("autocannon is not installed; run make setup")
	}
	if err == nil {
		err = json.Unmarshal(text, &b) // its version
	}
	if err != nil {
		return b, fmt.Errorf("%s: %w", file, err)
	}
	lock, err := Digest(filepath.Join(root, "package-lock.json"))
	return Binary{SHA256: digestOf(b.Version, lock), Version: b.Version}, err
}

// Digest is the SHA-256 of a file, in hexadecimal digits.
func Digest(path string) (string, error) {
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

// madeOf has the paths, from the root, of everything that can change a measurement and is not installed.
// Results that a run adds, and texts and pages, do not change the lab.
var madeOf = []string{"lab", "Makefile", "package.json", "package-lock.json", ".npmrc", "go.work"}

// UnknownCommit is the record of a commit that nobody could find out.
const UnknownCommit = "unknown"

// Differ names a checkout's commit and the paths below madeOf that differ from it: changed, deleted, or
// not tracked. Outside a checkout the commit is unknown. It asks git, which can be told to look away.
func Differ(root string) (commit string, paths []string) {
	head, err := Git(root, "rev-parse", "--show-prefix", "HEAD")
	status := []string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"}
	list, failed := Git(root, append(status, madeOf...)...)
	prefix, commit, _ := strings.Cut(strings.TrimRight(head, "\n"), "\n")
	if err != nil || failed != nil || prefix != "" { // a lab inside another project's checkout has no commit
		return UnknownCommit, []string{"all that has no commit"}
	}
	for entry := range strings.SplitSeq(list, "\x00") {
		if len(entry) > 3 { // two letters that say how, and a blank
			paths = append(paths, entry[3:])
		}
	}
	return commit, paths
}

// Git runs git in the checkout at root, and returns what it prints.
func Git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"--no-replace-objects", "-C", root}, args...)...)
	// Variables such as GIT_DIR would make git use another checkout. A partial clone
	// would fetch what it lacks.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_NO_LAZY_FETCH=1")
	out, err := cmd.Output()
	return string(out), err
}
