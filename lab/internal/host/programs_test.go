package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workshop is a checkout of a lab with one program, and a function that builds
// it as make does.
func workshop(t *testing.T) (dir string, git func(...string) string, build func()) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go here")
	}
	dir, git = checkout(t)
	write(t, dir, "lab/go.mod", "module example.invalid/lab\n\ngo 1.26\n\nrequire example.invalid/lab/batch "+
		"v0.0.0\n\nreplace example.invalid/lab/batch => ./batch\n")
	write(t, dir, "lab/batch/go.mod", "module example.invalid/lab/batch\n\ngo 1.26\n")
	write(t, dir, "lab/batch/library.go", "package library\n")
	write(t, dir, "lab/main.go", "package main\n\nfunc main() {}\n")
	write(t, dir, ".gitignore", "/.tools/\n")
	git("add", ".")
	git("commit", "--quiet", "--no-verify", "-m", "a program")
	tags := ""
	return dir, git, func() {
		t.Helper()
		var err error
		if tags, err = BuildTags(dir, tags); err != nil {
			t.Fatal(err)
		}
		goBuild(t, dir, "-tags", tags)
	}
}

func goBuild(t *testing.T, dir string, flags ...string) {
	t.Helper()
	goBuildOf(t, dir, ".", flags...)
}

func goBuildOf(t *testing.T, dir, of string, flags ...string) {
	t.Helper()
	cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-buildvcs=false"}, flags...), "-o",
		"../.tools/bin/fiber_server", of)...)
	cmd.Dir = filepath.Join(dir, "lab")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const server = ".tools/bin/fiber_server"

func TestAProgramIsNamedByItsDigestItsSourcesAndItsCommit(t *testing.T) {
	dir, git, build := workshop(t)
	build()
	sources, err := Sources(dir)
	if err != nil {
		t.Fatal(err)
	}
	find := func() (string, string, bool, string) {
		t.Helper()
		p, err := FindPrograms(dir, "", []string{"fiber_server"})
		if err != nil {
			t.Fatal(err)
		}
		b := p.Binaries()["fiber_server"]
		sum := sha256.Sum256([]byte(read(t, dir, server)))
		if b.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("digest %s, want %x", b.SHA256, sum)
		}
		return b.Sources, b.Commit, b.Modified, b.Build["CGO_ENABLED"]
	}
	first := git("rev-parse", "HEAD")
	if got, commit, modified, cgo := find(); got != sources || commit != first || modified || cgo == "" {
		t.Errorf("sources %s, commit %s, modified %v, cgo %q", got, commit, modified, cgo)
	}
	// After a commit of something else the program is unchanged, and its commit is
	// the one it was built from.
	write(t, dir, "data/results/new.json", "{}")
	git("add", ".")
	git("commit", "--quiet", "--no-verify", "-m", "a result")
	before := read(t, dir, server)
	build()
	if _, commit, _, _ := find(); commit != first || read(t, dir, server) != before {
		t.Errorf("commit %s, want %s", commit, first)
	}
	// An uncommitted change is reported until it is committed and built.
	write(t, dir, "lab/main.go", "package main\n\nfunc main() { println() }\n")
	build()
	if _, commit, modified, _ := find(); commit == first || !modified {
		t.Errorf("commit %s, modified %v", commit, modified)
	}
	git("commit", "--quiet", "--no-verify", "-am", "a change")
	build()
	if _, commit, modified, _ := find(); commit != git("rev-parse", "HEAD") || modified {
		t.Errorf("commit %s, modified %v", commit, modified)
	}
}

func TestAProgramOfOtherSourcesIsRefused(t *testing.T) {
	const other = "built from other sources than lab/ holds now"
	for _, c := range []struct {
		name  string
		spoil func(dir string, build func())
		want  string // empty: accepted
	}{
		{"nothing", func(string, func()) {}, ""},
		{"a test changed", func(dir string, _ func()) { write(t, dir, "lab/main_test.go", "package main\n") }, ""},
		{"an experiment changed", func(dir string, _ func()) { write(t, dir, "lab/experiments/x.toml", "x") }, ""},
		{"another module changed", func(dir string, build func()) {
			write(t, dir, "lab/peers/go.mod", "module example.invalid/peers\n")
			write(t, dir, "lab/peers/x.go", "package peers\n")
		}, ""},
		{"a source changed", func(dir string, _ func()) {
			write(t, dir, "lab/main.go", "package main\n\nfunc main() { println() }\n")
		}, other},
		{"a source added", func(dir string, _ func()) { write(t, dir, "lab/more.go", "package main\n") }, other},
		{"a profile for the compiler added", func(dir string, _ func()) { write(t, dir, "lab/default.pgo", "") }, other},
		{"a source moved", func(dir string, _ func()) {
			if err := os.Rename(filepath.Join(dir, "lab/main.go"), filepath.Join(dir, "lab/moved.go")); err != nil {
				t.Fatal(err)
			}
		}, other},
		{"a module that lab uses changed", func(dir string,
			_ func()) {
			write(t, dir, "lab/batch/library.go", "package library\n\nvar X int\n")
		}, other},
		{"its go.mod changed", func(dir string, _ func()) {
			write(t, dir, "lab/batch/go.mod", "module example.invalid/lab/batch\n\ngo 1.25\n")
		}, other},
		{"a test of it changed", func(dir string,
			_ func()) {
			write(t, dir, "lab/batch/library_test.go", "package library\n")
		}, ""},
		{"a module changed", func(dir string, _ func()) { write(t, dir, "lab/go.sum", "x") }, other},
		// A file's time depends on how it was copied or checked out.
		{"an older program copied back", func(dir string, build func()) {
			old := read(t, dir, server)
			write(t, dir, "lab/main.go", "package main\n\nfunc main() { println() }\n")
			build()
			write(t, dir, server, old)
		}, other},
		{"a program built without make", func(dir string, _ func()) { goBuild(t, dir) }, "does not say of which sources"},
		{"a script in its place", func(dir string, _ func()) { write(t, dir, server, "#!/bin/sh\n") },
			"does not say of which sources"},
		{"no program", func(dir string, _ func()) { os.Remove(filepath.Join(dir, server)) }, "is not built"},
	} {
		dir, _, build := workshop(t)
		build()
		c.spoil(dir, build)
		_, err := FindPrograms(dir, "", []string{"fiber_server"})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "make build") ||
			!strings.Contains(err.Error(), server) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want one line with %q, the file and the way out", c.name, err, c.want)
		}
	}
}

// A patched program keeps its stamp but has another digest.
func TestAPatchedProgramHasItsOwnDigest(t *testing.T) {
	dir, _, build := workshop(t)
	build()
	digest := func() string {
		p, err := FindPrograms(dir, "", []string{"fiber_server"})
		if err != nil {
			t.Fatal(err)
		}
		return p.Binaries()["fiber_server"].SHA256
	}
	before := digest()
	write(t, dir, server, read(t, dir, server)+"\x00")
	if digest() == before {
		t.Error("one digest for two programs")
	}
	// A program compiled with options that make it slower reports them.
	tags, err := BuildTags(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	goBuild(t, dir, "-tags", tags, "-gcflags=-N")
	p, err := FindPrograms(dir, "", []string{"fiber_server"})
	if err != nil {
		t.Fatal(err)
	}
	if b := p.Binaries()["fiber_server"]; b.Build["-gcflags"] != "-N" {
		t.Errorf("build settings %v", b.Build)
	}
}

func TestAProgramThatIsReplacedDuringARunIsNoticed(t *testing.T) {
	dir, _, build := workshop(t)
	build()
	write(t, dir, "node_modules/autocannon/package.json", `{"version": "9.8.7"}`)
	p, err := FindPrograms(dir, "", []string{"fiber_server", "autocannon"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Changed(); err != nil {
		t.Error(err)
	}
	write(t, dir, "lab/main.go", "package main\n\nfunc main() { println() }\n")
	build()
	if err := p.Changed(); err == nil || !strings.Contains(err.Error(), "fiber_server was replaced") {
		t.Errorf("%v", err)
	}
}

func TestAutocannonIsNamedWithAllThatItRuns(t *testing.T) {
	pkg := func(dir, name string, needs ...string) {
		on := map[string]string{}
		for _, n := range needs {
			on[n] = "1"
		}
		text, err := json.Marshal(map[string]any{"name": name, "dependencies": on,
			"optionalDependencies": map[string]string{"absent": "1"}})
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "node_modules/"+name+"/package.json", string(text))
	}
	for _, c := range []struct {
		name    string
		change  func(dir string)
		matters bool
	}{
		{"nothing", func(string) {}, false},
		{"a file of its own", func(dir string) { write(t, dir, "node_modules/autocannon/lib/x.js", "2") }, true},
		{"a file added", func(dir string) { write(t, dir, "node_modules/autocannon/lib/y.js", "2") }, true},
		{"one of a dependency", func(dir string) { write(t, dir, "node_modules/one/x.js", "2") }, true},
		{"one of a dependency's dependency", func(dir string) { write(t, dir, "node_modules/@scope/two/x.js", "2") }, true},
		{"one of a dependency that another hides", func(dir string) { write(t, dir, "node_modules/two/x.js", "2") }, false},
		{"one that it does not depend on", func(dir string) { write(t, dir, "node_modules/other/x.js", "2") }, false},
	} {
		dir := t.TempDir()
		pkg(dir, "autocannon", "one")
		write(t, dir, "node_modules/autocannon/lib/x.js", "1")
		pkg(dir, "one", "@scope/two", "two", "autocannon")
		pkg(dir, "one/node_modules/two", "one")
		pkg(dir, "@scope/two")
		pkg(dir, "two")
		pkg(dir, "other")
		digest := func() string {
			p, err := FindPrograms(dir, "", []string{"autocannon"})
			if err != nil {
				t.Fatal(err)
			}
			return p.Binaries()["autocannon"].SHA256
		}
		before := digest()
		c.change(dir)
		if after := digest(); (after != before) != c.matters {
			t.Errorf("%s: the digest is another: %v", c.name, after != before)
		}
	}
	if _, err := FindPrograms(t.TempDir(), "", []string{"autocannon"}); err == nil ||
		!strings.Contains(err.Error(), "autocannon is not installed; run make setup") {
		t.Errorf("%v", err)
	}
}

func TestNodeIsTheFileThatRuns(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here")
	}
	t.Setenv("NODE_OPTIONS", "--no-such-option") // not passed on
	p, err := FindPrograms(t.TempDir(), "", []string{"node"})
	if err != nil {
		t.Fatal(err)
	}
	// The file must be the real program, not a version manager's shim.
	real := p.Binaries()["node"]
	path, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "node", "#!/bin/sh\nexec '"+path+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(dir, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if p, err = FindPrograms(t.TempDir(), "", []string{"node"}); err != nil || p.Binaries()["node"].SHA256 != real.SHA256 {
		t.Errorf("%v, %v", p, err)
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := FindPrograms(t.TempDir(), "", []string{"node"}); err == nil ||
		!strings.Contains(err.Error(), "node is not installed") {
		t.Errorf("%v", err)
	}
}

// Without sources there is nothing to compare with; the commit is then unknown.
func TestProgramsAloneAreTaken(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, server, "\x7fELF")
	p, err := FindPrograms(dir, "", []string{"fiber_server"})
	if err != nil || p.Binaries()["fiber_server"].SHA256 == "" {
		t.Error(err)
	}
}

func TestTheEnvironmentNamesNoDirectory(t *testing.T) {
	text, err := json.Marshal(new(Programs).Environment())
	if err != nil || string(text) != `{"set":{"LC_ALL":"C"},"passed":["PATH"]}` {
		t.Errorf("%s, %v", text, err)
	}
}

// Of a program that is none of the lab's, the digest is known, and the version
// of one that is installed. One that was replaced is noticed.
func TestProgramsOfOthers(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(bin, "known"), "#!/bin/sh\necho 'known 1.2'\necho more\n")
	put(filepath.Join(bin, "other"), "#!/bin/sh\nexit 1\n")
	put(filepath.Join(root, "lab", "x.js"), "//")
	put(filepath.Join(root, ".tools", "bin", "peer"), "#!/bin/sh\nexit 1\n")
	t.Setenv("PATH", bin)
	p, err := FindPrograms(root, "", []string{"known", "other", "lab/x.js", ".tools/bin/peer"})
	if err != nil {
		t.Fatal(err)
	}
	all := p.Binaries()
	for name, version := range map[string]string{"known": "known 1.2", "other": "", "lab/x.js": "", "peer": ""} {
		if b := all[name]; len(b.SHA256) != 64 || b.Version != version || b.Sources != "" {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if err := p.Changed(); err != nil {
		t.Error(err)
	}
	put(filepath.Join(root, "lab", "x.js"), "// more")
	if err := p.Changed(); err == nil || !strings.Contains(err.Error(), "lab/x.js was replaced") {
		t.Errorf("%v", err)
	}
	for name, says := range map[string]string{"nowhere": "nowhere is not installed",
		"lab/nowhere": "lab/nowhere is not there"} {
		if _, err := FindPrograms(root, "", []string{name}); err == nil || err.Error() != says {
			t.Errorf("%v", err)
		}
	}
	if Own(Called(".tools/bin/peer")) || !Own(Called(".tools/bin/fiber_server")) {
		t.Error("whose they are")
	}
}
