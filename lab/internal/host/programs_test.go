package host

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goBuild builds a program as make does, of the measured ones or of the others.
func goBuild(t *testing.T, dir, name string, flags ...string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go here")
	}
	cmd := exec.Command("go", append(append([]string{"build", "-trimpath"}, flags...), "-o", "../.tools/bin/"+name, ".")...)
	cmd.Dir = filepath.Join(dir, "lab")
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

const server = ".tools/bin/fiber_server"

// What is measured is the same program after a commit of something else; the lab names its commit; and
// what loads servers is the same program as long as it has its version.
func TestProgramsAreNamedByWhatTheyAre(t *testing.T) {
	dir, git := checkout(t)
	write(t, dir, "lab/go.mod", "module example.invalid/lab\n\ngo 1.26\n")
	write(t, dir, "lab/main.go", "package main\n\nfunc main() {}\n")
	write(t, dir, ".gitignore", "/.tools/\n")
	commit := func() string {
		git("add", ".")
		git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "x")
		return git("rev-parse", "HEAD")
	}
	find := func() map[string]Binary {
		t.Helper()
		goBuild(t, dir, "fiber_server", "-buildvcs=false")
		goBuild(t, dir, Loader, "-buildvcs=true")
		p, err := FindPrograms(dir, "", []string{"fiber_server", Loader})
		if err != nil {
			t.Fatal(err)
		}
		return p.Binaries()
	}
	first := commit()
	was := find()
	if b := was[Loader]; b.Commit != first || b.Modified || was["fiber_server"].Commit != "" || was["fiber_server"].Build["CGO_ENABLED"] == "" {
		t.Errorf("%+v", was)
	}
	write(t, dir, "data/results/new.json", "{}")
	second := commit()
	now := find()
	if now["fiber_server"].SHA256 != was["fiber_server"].SHA256 || now[Loader].Commit != second ||
		now[Loader].SHA256 == was[Loader].SHA256 || !now[Loader].Same(was[Loader]) {
		t.Errorf("%+v", now)
	}
	write(t, dir, "lab/main.go", "package main\n\nfunc main() { println() }\n")
	now = find()
	if now["fiber_server"].Same(was["fiber_server"]) || !now[Loader].Modified {
		t.Errorf("%+v", now)
	}
	goBuild(t, dir, "fiber_server", "-buildvcs=false", "-gcflags=-N")
	if b, ok := Told(dir, "fiber_server"); !ok || b.Build["-gcflags"] != "-N" {
		t.Errorf("%+v", b)
	}
}

func TestAProgramThatIsReplacedDuringARunIsNoticed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, server, "\x7fELF")
	write(t, dir, "node_modules/autocannon/package.json", `{"version": "9.8.7"}`)
	p, err := FindPrograms(dir, "", []string{"fiber_server", "autocannon"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Changed(); err != nil {
		t.Error(err)
	}
	write(t, dir, server, "\x7fELF and more")
	if err := p.Changed(); err == nil || !strings.Contains(err.Error(), "fiber_server was replaced") {
		t.Errorf("%v", err)
	}
}

func TestAutocannonIsItsVersionAndTheLockFile(t *testing.T) {
	dir, seen := t.TempDir(), map[string]bool{}
	for i, c := range []struct{ file, text string }{
		{"node_modules/autocannon/package.json", `{"version": "9.8.7"}`}, {"package-lock.json", "one"}, {"package-lock.json", "two"},
		{"node_modules/autocannon/package.json", `{"version": "9.8.8"}`},
	} {
		write(t, dir, c.file, c.text)
		p, err := FindPrograms(dir, "", []string{"autocannon"})
		if err != nil {
			t.Fatal(err)
		}
		if seen[p.Binaries()["autocannon"].SHA256] = true; len(seen) != i+1 {
			t.Errorf("after %s it is as before", c.file)
		}
	}
	for name, says := range map[string]string{"autocannon": "autocannon is not installed; run make setup",
		"fiber_server": ".tools/bin/fiber_server is not built; run make build"} {
		if _, err := FindPrograms(t.TempDir(), "", []string{name}); err == nil || err.Error() != says {
			t.Errorf("%v", err)
		}
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
}
