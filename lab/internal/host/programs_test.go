package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// A measured program is the same after a commit of something else, and a load generator is the same
// as long as it has its version.
func TestProgramsAreNamedByWhatTheyAre(t *testing.T) {
	dir, git := checkout(t)
	write(t, dir, "lab/go.mod", "module example.invalid/lab\n\ngo 1.26\n")
	write(t, dir, "lab/main.go", "package main\n\nfunc main() {}\n")
	write(t, dir, ".gitignore", "/.tools/\n")
	commit := func() {
		git("add", ".")
		git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "x")
	}
	find := func() map[string]Binary {
		t.Helper()
		goBuild(t, dir, "fiber_server", "-buildvcs=false")
		goBuild(t, dir, Loader, "-buildvcs=true")
		p, err := FindPrograms(dir, "", []string{built + "fiber_server", Loader})
		if err != nil {
			t.Fatal(err)
		}
		if tools := p.Tools; tools["go"] != strings.TrimPrefix(runtime.Version(), "go") || tools["http_load"] == "" {
			t.Errorf("%v", tools)
		}
		return p.Binaries
	}
	commit()
	was := find()
	write(t, dir, "data/results/new.json", "{}")
	commit()
	now := find()
	if now["fiber_server"].SHA256 != was["fiber_server"].SHA256 || now[Loader].SHA256 == was[Loader].SHA256 || !now[Loader].Same(was[Loader]) {
		t.Errorf("%+v", now)
	}
	write(t, dir, "lab/main.go", "package main\n\nfunc main() { println() }\n")
	now = find()
	if now["fiber_server"].Same(was["fiber_server"]) {
		t.Errorf("%+v", now)
	}
	if b, err := Find(dir, "fiber_server"); err != nil || !b.Same(now["fiber_server"]) {
		t.Errorf("%+v", b)
	}
}

func TestAutocannonIsItsVersionAndTheLockFile(t *testing.T) {
	dir, seen := t.TempDir(), map[string]bool{}
	write(t, dir, "package-lock.json", "none")
	for i, c := range []struct{ file, text string }{
		{"node_modules/autocannon/package.json", `{"version": "9.8.7"}`}, {"package-lock.json", "one"},
		{"node_modules/autocannon/package.json", `{"version": "9.8.8"}`},
	} {
		write(t, dir, c.file, c.text)
		p, err := FindPrograms(dir, "", []string{"autocannon"})
		if err != nil {
			t.Fatal(err)
		}
		if seen[p.Binaries["autocannon"].SHA256] = true; len(seen) != i+1 {
			t.Errorf("after %s it is as before", c.file)
		}
		if v := p.Tools["autocannon"]; !strings.HasPrefix(v, "9.8.") {
			t.Errorf("autocannon %q", v)
		}
	}
}

// A digest identifies any program, and the run notices one that changes meanwhile.
func TestPrograms(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	write(t, bin, "known", "#!/bin/sh\n")
	write(t, bin, "node", "#!/bin/sh\necho v22.1.0\n")
	for _, name := range []string{"known", "node"} {
		if err := os.Chmod(filepath.Join(bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root, "lab/x.js", "//")
	write(t, root, ".tools/bin/peer", "\x7fELF")
	write(t, root, ".tools/bin/event_sink", "\x7fELF")
	t.Setenv("PATH", bin)
	p, err := FindPrograms(root, filepath.Join(bin, "known"), []string{"lab", "known", "node", "lab/x.js", ".tools/bin/peer", "event_sink"})
	if err != nil {
		t.Fatal(err)
	}
	all := p.Binaries
	for _, name := range []string{"lab", "known", "node", "lab/x.js", "peer", "event_sink"} {
		if len(all[name].SHA256) != 64 {
			t.Errorf("%s: %+v", name, all[name])
		}
	}
	if v := p.Tools["node"]; v != "22.1.0" || len(all) != 6 {
		t.Errorf("node %q, %v", v, all)
	}
	if err := p.Changed(); err != nil {
		t.Error(err)
	}
	write(t, root, ".tools/bin/peer", "\x7fELF and more")
	if err := p.Changed(); err == nil || !strings.Contains(err.Error(), "peer was replaced during the run") {
		t.Errorf("%v", err)
	}
	t.Setenv("PATH", t.TempDir())
	for name, says := range map[string]string{
		"nowhere":       "nowhere is neither built nor installed; run make build, or install it",
		"lab/nowhere":   "lab/nowhere is neither built nor installed; run make build, or install it",
		"autocannon":    "autocannon is not installed; run make setup",
		built + "other": ".tools/bin/other is neither built nor installed; run make build, or install it",
	} {
		if _, err := FindPrograms(root, "", []string{name}); err == nil || err.Error() != says {
			t.Errorf("%s: %v", name, err)
		}
	}
}
