package provenance

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// checkout makes a repository with one commit of a file and a data file.
func checkout(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	dir = t.TempDir()
	git = func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.invalid", "-c", "commit.gpgsign=false"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	write(t, dir, "lab/main.go", "one")
	write(t, dir, "data/results/r.json", "{}")
	git("add", ".")
	git("commit", "--quiet", "--no-verify", "-m", "first")
	return dir, git
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCommitSaysWhetherTheLabDiffers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(dir string, git func(...string) string)
		dirty  bool
	}{
		{"nothing changed", func(string, func(...string) string) {}, false},
		{"a tracked file changed", func(dir string, _ func(...string) string) { write(t, dir, "lab/main.go", "two") }, true},
		{"a tracked file deleted", func(dir string, _ func(...string) string) { os.Remove(filepath.Join(dir, "lab/main.go")) }, true},
		{"a change that is staged", func(dir string, git func(...string) string) { write(t, dir, "lab/main.go", "two"); git("add", ".") }, true},
		// What a run itself leaves behind.
		{"a result added", func(dir string, _ func(...string) string) { write(t, dir, "data/results/new.json", "{}") }, false},
		{"a data file changed", func(dir string, _ func(...string) string) { write(t, dir, "data/results/r.json", "{ }") }, false},
		{"a file that is not tracked", func(dir string, _ func(...string) string) { write(t, dir, "notes.txt", "x") }, false},
		// Only the data at the top is the journal's.
		{"another data directory changed", func(dir string, git func(...string) string) {
			write(t, dir, "lab/data/x", "1")
			git("add", ".")
			git("commit", "--quiet", "--no-verify", "-m", "second")
			write(t, dir, "lab/data/x", "2")
		}, true},
	} {
		dir, git := checkout(t)
		c.change(dir, git)
		commit, dirty := Commit(dir)
		if want := git("rev-parse", "HEAD"); commit != want || dirty != c.dirty {
			t.Errorf("%s: %s, dirty %v; want %s, %v", c.name, commit, dirty, want, c.dirty)
		}
	}
}

func TestOutsideACheckoutTheCommitIsUnknown(t *testing.T) {
	// Nothing above a temporary directory may pass for the checkout.
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if commit, dirty := Commit(dir); commit != "unknown" || !dirty {
		t.Errorf("%s, dirty %v", commit, dirty)
	}
}

func TestWithoutGitTheCommitIsUnknown(t *testing.T) {
	dir, _ := checkout(t)
	t.Setenv("PATH", t.TempDir())
	if commit, dirty := Commit(dir); commit != "unknown" || !dirty {
		t.Errorf("%s, dirty %v", commit, dirty)
	}
}

func TestToolsSayVersionsAndNoWords(t *testing.T) {
	number := regexp.MustCompile(`^[0-9]`)
	root := t.TempDir()
	write(t, root, "node_modules/autocannon/package.json", `{"version": "9.8.7"}`)
	// Any Go program says what it was built with; this test's stands in for
	// the server.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(root, ".tools", "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o755), os.Symlink(self, filepath.Join(bin, "fiber_server"))); err != nil {
		t.Fatal(err)
	}
	tools := Tools(root)
	if want := strings.TrimPrefix(runtime.Version(), "go"); tools["go"] != want {
		t.Errorf("go %q, want %q", tools["go"], want)
	}
	if tools["autocannon"] != "9.8.7" {
		t.Errorf("autocannon %q", tools["autocannon"])
	}
	for name, version := range tools {
		if !number.MatchString(version) {
			t.Errorf("%s %q", name, version)
		}
	}
	for name := range Tools(t.TempDir()) {
		if name != "node" {
			t.Errorf("%s is named where nothing is installed", name)
		}
	}
}

func TestAToolThatIsMissingIsLeftOut(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if v, ok := Tools(t.TempDir())["node"]; ok {
		t.Errorf("node %q, which is not there", v)
	}
}

func TestKernelSettingsAreAsTheKernelSaysThem(t *testing.T) {
	set := Kernel()
	for name, v := range set {
		if v == "" || v != strings.Join(strings.Fields(v), " ") {
			t.Errorf("%s is %q", name, v)
		}
	}
	for name, path := range map[string]string{
		"osrelease":          "/proc/sys/kernel/osrelease",
		"net.core.somaxconn": "/proc/sys/net/core/somaxconn",
		"net.ipv4.tcp_rmem":  "/proc/sys/net/ipv4/tcp_rmem",
	} {
		text, err := os.ReadFile(path)
		got, ok := set[name]
		if ok != (err == nil) || ok && got != strings.Join(strings.Fields(string(text)), " ") {
			t.Errorf("%s is %q (there: %v), the kernel says %q (%v)", name, got, ok, text, err)
		}
	}
	n, ok := OpenFiles()
	if !ok || n == 0 || set["nofile"] == "" {
		t.Errorf("open files: %d, %v; recorded as %q", n, ok, set["nofile"])
	}
}
