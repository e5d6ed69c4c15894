package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

func TestCommitSaysWhetherTheLabDiffers(t *testing.T) {
	put := func(name, text string) func(string, func(...string) string) {
		return func(dir string, _ func(...string) string) { write(t, dir, name, text) }
	}
	for name, c := range map[string]struct {
		change func(dir string, git func(...string) string)
		differ []string
	}{
		"nothing changed":               {func(string, func(...string) string) {}, nil},
		"a tracked file changed":        {put("lab/main.go", "two"), []string{"lab/main.go"}},
		"a file written anew as it was": {put("lab/main.go", "one"), nil},
		"an untracked source":           {put("lab/server/default.pgo", "x"), []string{"lab/server/default.pgo"}},
		"untracked settings of npm":     {put(".npmrc", "x"), []string{".npmrc"}},
		"a result added":                {put("data/results/new.json", "{}"), nil},
		"a file beside the lab":         {put("notes.txt", "x"), nil},
		"a tracked file deleted": {func(dir string, _ func(...string) string) { os.Remove(filepath.Join(dir, "lab/main.go")) },
			[]string{"lab/main.go"}},
		"an experiment that is only staged": {func(dir string, git func(...string) string) {
			write(t, dir, "lab/experiments/x.toml", "x")
			git("add", ".")
		}, []string{"lab/experiments/x.toml"}},
	} {
		dir, git := checkout(t)
		c.change(dir, git)
		if commit, got := Differ(dir); commit != git("rev-parse", "HEAD") || !slices.Equal(got, c.differ) {
			t.Errorf("%s: %s, %q differ, want %q", name, commit, got, c.differ)
		}
	}
}

func TestOutsideACheckoutTheCommitIsUnknown(t *testing.T) {
	dir, _ := checkout(t)
	write(t, dir, "elsewhere/lab/main.go", "one")
	for _, at := range []string{t.TempDir(), filepath.Join(dir, "elsewhere")} {
		if commit, differ := Differ(at); commit != "unknown" || len(differ) == 0 {
			t.Errorf("%s, %q differ", commit, differ)
		}
	}
	t.Setenv("PATH", t.TempDir()) // without git
	if commit, differ := Differ(dir); commit != "unknown" || len(differ) == 0 {
		t.Errorf("%s, %q differ", commit, differ)
	}
}

// A caller's variables could make git use another checkout.
func TestTheCommitIsOfTheRoot(t *testing.T) {
	dir, git := checkout(t)
	other, _ := checkout(t)
	write(t, dir, "lab/main.go", "two")
	want := git("rev-parse", "HEAD")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_WORK_TREE", other)
	if commit, differ := Differ(dir); commit != want || len(differ) == 0 {
		t.Errorf("%s, %q differ; want %s", commit, differ, want)
	}
}
