package host

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCommitSaysWhetherTheLabDiffers(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(dir string, git func(...string) string)
		differ []string
	}{
		{"nothing changed", func(string, func(...string) string) {}, nil},
		{"a tracked file changed", func(dir string, _ func(...string) string) { write(t, dir, "lab/main.go", "two") },
			[]string{"lab/main.go"}},
		{"a tracked file deleted", func(dir string,
			_ func(...string) string) {
			os.Remove(filepath.Join(dir, "lab/main.go"))
		}, []string{"lab/main.go"}},
		{"a change that is staged", func(dir string,
			git func(...string) string) {
			write(t, dir, "lab/main.go", "two")
			git("add", ".")
		}, []string{"lab/main.go"}},
		{"a file written anew as it was", func(dir string, _ func(...string) string) { write(t, dir, "lab/main.go", "one") },
			nil},
		// Untracked files are run, compiled or installed all the same.
		{"an untracked experiment", func(dir string,
			_ func(...string) string) {
			write(t, dir, "lab/experiments/x.toml", "x")
		}, []string{"lab/experiments/x.toml"}},
		{"an untracked source", func(dir string, _ func(...string) string) { write(t, dir, "lab/server/default.pgo", "x") },
			[]string{"lab/server/default.pgo"}},
		{"untracked settings of npm", func(dir string, _ func(...string) string) { write(t, dir, ".npmrc", "x") },
			[]string{".npmrc"}},
		{"an experiment that is only staged", func(dir string, git func(...string) string) {
			write(t, dir, "lab/experiments/x.toml", "x")
			git("add", ".")
		}, []string{"lab/experiments/x.toml"}},
		{"a link in place of a file", func(dir string, _ func(...string) string) {
			write(t, dir, "other.go", "one")
			os.Remove(filepath.Join(dir, "lab/main.go"))
			if err := os.Symlink("../other.go", filepath.Join(dir, "lab/main.go")); err != nil {
				t.Fatal(err)
			}
		}, []string{"lab/main.go"}},
		// Files that a run itself leaves behind, and texts about it.
		{"a result added", func(dir string, _ func(...string) string) { write(t, dir, "data/results/new.json", "{}") }, nil},
		{"a data file changed", func(dir string, _ func(...string) string) { write(t, dir, "data/results/r.json", "{ }") },
			nil},
		{"a file beside the lab", func(dir string, _ func(...string) string) { write(t, dir, "notes.txt", "x") }, nil},
		{"an entry's text changed", func(dir string, _ func(...string) string) { write(t, dir, "content/journal/x.md", "x") },
			nil},
		// Only the data directory at the top is the journal's.
		{"another data directory changed", func(dir string, git func(...string) string) {
			write(t, dir, "lab/data/x", "1")
			git("add", ".")
			git("commit", "--quiet", "--no-verify", "-m", "second")
			write(t, dir, "lab/data/x", "2")
		}, []string{"lab/data/x"}},
	} {
		dir, git := checkout(t)
		c.change(dir, git)
		commit, dirty := Commit(dir)
		if want := git("rev-parse", "HEAD"); commit != want || dirty != (len(c.differ) > 0) {
			t.Errorf("%s: %s, dirty %v; want %s, %v", c.name, commit, dirty, want, len(c.differ) > 0)
		}
		if _, got := Differ(dir); !slices.Equal(got, c.differ) {
			t.Errorf("%s: %q differ, want %q", c.name, got, c.differ)
		}
	}
}

func TestOutsideACheckoutTheCommitIsUnknown(t *testing.T) {
	dir, _ := checkout(t)
	write(t, dir, "elsewhere/lab/main.go", "one")
	for _, at := range []string{t.TempDir(), filepath.Join(dir, "elsewhere")} {
		if commit, dirty := Commit(at); commit != "unknown" || !dirty {
			t.Errorf("%s, dirty %v", commit, dirty)
		}
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
	if commit, dirty := Commit(dir); commit != want || !dirty {
		t.Errorf("%s, dirty %v; want %s, which differs", commit, dirty, want)
	}
}

func TestWithoutGitTheCommitIsUnknown(t *testing.T) {
	dir, _ := checkout(t)
	t.Setenv("PATH", t.TempDir())
	if commit, dirty := Commit(dir); commit != "unknown" || !dirty {
		t.Errorf("%s, dirty %v", commit, dirty)
	}
}
