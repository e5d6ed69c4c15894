package revision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// This program holds the tests' builds, and as "checkout" makes worktrees and is killed.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "hold":
		os.Exit(proc.Hold(os.Args[2:], os.Stdin, os.Stderr))
	case len(os.Args) > 1 && os.Args[1] == "checkout":
		if _, err := Checkout(context.Background(), ".", "HEAD~1", ""); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("made")
		time.Sleep(time.Minute)
	}
	os.Exit(m.Run())
}

var hold = []string{os.Args[0], "hold"}

// project is a repository with two commits and a change that is not committed. Worktrees are
// made below a directory of the test's own.
func project(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	dir = t.TempDir()
	for name, text := range map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "a",
		"GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"} {
		t.Setenv(name, text)
	}
	write(t, dir, "sub/version", "1")
	write(t, dir, ".gitignore", "ignored\n")
	run(t, dir, "init", "-q", "-b", "main")
	for _, version := range []string{"1", "2"} {
		write(t, dir, "sub/version", version)
		run(t, dir, "add", "--all")
		run(t, dir, "commit", "-q", "-m", version)
	}
	return dir
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

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(context.Background(), dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// clean checks that neither a worktree nor a record of one is left.
func clean(t *testing.T, dir string) {
	t.Helper()
	if list := run(t, dir, "worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("git's records: %s", list)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func checkout(t *testing.T, dir, base, head string) *Trees {
	t.Helper()
	trees, err := Checkout(t.Context(), dir, base, head)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trees.Close(); clean(t, dir) })
	return trees
}

func read(tree *Tree, name string) string {
	text, err := os.ReadFile(filepath.Join(tree.Dir, name))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func TestTwoRevisionsLieBesideEachOther(t *testing.T) {
	dir := project(t)
	trees := checkout(t, filepath.Join(dir, "sub"), "main~1", "main")
	if read(trees.Base, "version") != "1" || read(trees.Head, "version") != "2" {
		t.Errorf("%+v, %+v", trees.Base, trees.Head)
	}
	if trees.Same() || !strings.HasPrefix(trees.Base.String(), "base (main~1, ") {
		t.Errorf("%v, %v", trees.Base, trees.Head)
	}
}

func TestWithoutAHeadItIsTheWorkingTreeAsItStands(t *testing.T) {
	dir := project(t)
	t.Run("nothing was changed", func(t *testing.T) {
		if !checkout(t, dir, "main", "").Same() {
			t.Error("they differ")
		}
	})
	write(t, dir, "sub/version", "3")
	write(t, dir, "sub/fresh", "new")
	write(t, dir, "ignored", "x")
	run(t, dir, "add", "sub/version")
	write(t, dir, "sub/version", "4")
	before := run(t, dir, "status", "--porcelain")
	trees := checkout(t, dir, "main", "")
	if got := read(trees.Head, "sub/version") + read(trees.Head, "sub/fresh") + read(trees.Base, "sub/version"); got != "4new2" {
		t.Error(got)
	}
	if _, err := os.Stat(filepath.Join(trees.Head.Dir, "ignored")); err == nil {
		t.Error("what git ignores is in the worktree")
	}
	if after := run(t, dir, "status", "--porcelain"); after != before {
		t.Errorf("the caller's files changed from\n%s\nto\n%s", before, after)
	}
	if trees.Same() || trees.Head.String() != "head (the working tree)" {
		t.Error(trees.Head)
	}
}

func TestWhatCannotBeCheckedOutIsOneLineAndLeavesNothing(t *testing.T) {
	dir := project(t)
	write(t, dir, "late/file", "x")
	for says, call := range map[string][3]string{
		"--base nosuch: git knows no such commit here": {dir, "nosuch", ""},
		"--head --flag: git knows no such commit here": {dir, "main", "--flag"},
		"base (main, ": {filepath.Join(dir, "late"), "main", ""},
		"is in no working tree of git (git rev-parse: fat": {os.TempDir(), "main", ""},
	} {
		_, err := Checkout(t.Context(), call[0], call[1], call[2])
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, says)
		}
		clean(t, dir)
	}
}

func TestBothAreBuiltWhereTheyLie(t *testing.T) {
	dir := project(t)
	trees := checkout(t, dir, "main~1", "main")
	t.Setenv("WORD", "built ")
	said := ""
	say := func(format string, args ...any) { said += fmt.Sprintf(format, args...) + "\n" }
	// A directory that nobody may write to, as Go's cache of modules, goes away as well.
	if err := trees.Build(t.Context(), hold, `printf "$WORD" | cat - sub/version >out && mkdir -p d/e && chmod a-w d`,
		say); err != nil {
		t.Fatal(err)
	}
	if got := read(trees.Base, "out") + ", " + read(trees.Head, "out"); got != "built 1, built 2" {
		t.Error(got)
	}
	if !strings.HasPrefix(said, "building base (main~1, ") || !strings.Contains(said, "\nbuilding head (main, ") {
		t.Error(said)
	}
}

func TestABuildThatFailsIsOneLineAndItsLastOutput(t *testing.T) {
	dir := project(t)
	trees := checkout(t, dir, "main~1", "main")
	var output []string
	err := trees.Build(t.Context(), hold, `grep -q 1 sub/version || { seq 100; echo no compiler >&2; exit 3; }`,
		func(format string, args ...any) { output = append(output, fmt.Sprintf(format, args...)) })
	if err == nil || !strings.HasPrefix(err.Error(), "head (main, ") ||
		!strings.HasSuffix(err.Error(), "failed (exit status 3)") {
		t.Fatal(err)
	}
	output = output[2:] // after what is told before each build
	if n := len(output); n != lastLines || !strings.Contains(strings.Join(output, "\n"), "no compiler") {
		t.Errorf("%q", output)
	}
}

func TestABuildIsEndedWithTheCall(t *testing.T) {
	dir := project(t)
	trees := checkout(t, dir, "main~1", "main")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	go func() {
		for read(trees.Base, "pid") == "" || strings.Contains(read(trees.Base, "pid"), "no such file") {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(why)
	}()
	if err := trees.Build(ctx, hold, "sleep 60 & echo $! >pid; wait", func(string, ...any) {}); !errors.Is(err, why) {
		t.Error(err)
	}
	var pid int
	fmt.Sscan(read(trees.Base, "pid"), &pid)
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d of the build still runs: %v", pid, err)
	}
}

func TestTheNextCallRemovesWhatAKilledOneLeft(t *testing.T) {
	dir := project(t)
	write(t, dir, "sub/version", "3")
	other := exec.Command(os.Args[0], "checkout")
	other.Dir = dir
	out, _ := other.StdoutPipe()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if said := make([]byte, 4); true {
		if _, err := out.Read(said); string(said) != "made" {
			t.Fatal(string(said), err)
		}
	}
	// Another's worktree, whose place is not mounted now, is none of ours.
	far := filepath.Join(t.TempDir(), "far")
	run(t, dir, "worktree", "add", "--detach", far)
	if err := os.RemoveAll(far); err != nil {
		t.Fatal(err)
	}
	worktrees := func() int { return strings.Count(run(t, dir, "worktree", "list", "--porcelain"), "worktree ") }
	Sweep()
	if n := worktrees(); n != 4 {
		t.Errorf("%d worktrees while the call lives, want 4", n)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	Sweep()
	if n := worktrees(); n != 2 {
		t.Errorf("%d worktrees after it was killed, want the repository and the one that is elsewhere", n)
	}
	run(t, dir, "worktree", "remove", "--force", far)
	clean(t, dir)
}
