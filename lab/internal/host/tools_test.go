package host

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
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.invalid", "-c",
			"commit.gpgsign=false"}, args...)...)
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

func TestToolsSayVersionsAndNoWords(t *testing.T) {
	number := regexp.MustCompile(`^[0-9]`)
	root := t.TempDir()
	write(t, root, "node_modules/autocannon/package.json", `{"version": "9.8.7"}`)
	// Any Go program says what it was built with; this test binary serves as the
	// server.
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
	set := Kernel("/")
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
	if n := set["nofile"]; n == "" || n == "0" {
		t.Errorf("open files are recorded as %q", n)
	}
}
