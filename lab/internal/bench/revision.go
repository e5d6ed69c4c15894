package bench

// Two git revisions of a project are built beside each other without touching the caller's files.
//
// Each gets a git worktree of its own below a directory for temporary files, and is built there. What
// is not committed counts too where no revision is named: it is written into a commit that no branch
// has, by an index of its own; git removes such a commit when it next collects garbage. What git
// ignores, such as a folder of installed packages, is in no worktree: the build has to make it.
//
// Worktrees and git's records of them are removed at the end, and after a signal. A process that is
// killed cannot do that; so its directory holds a lock, which the kernel drops with the process, and
// Sweep, in the next call, removes what has a lock that nobody holds. Only records that point into that
// directory are removed: "worktree prune" would also remove those of a disk that is not mounted now.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Tree is a revision in a worktree of its own.
type Tree struct {
	Name   string // that it goes by, as "base"
	Asked  string // the revision as it was given; empty for what lies in the caller's directory
	Commit string
	Dir    string // where the caller's directory is in it
}

// String names a tree in messages.
func (t *Tree) String() string {
	if t.Asked == "" {
		return t.Name + " (the working tree)"
	}
	return fmt.Sprintf("%s (%s, %.10s)", t.Name, t.Asked, t.Commit)
}

// Trees are the worktrees of one call.
type Trees struct {
	Base, Head *Tree

	top, prefix string // of the repository, and the caller's directory in it
	tmp         string
	lock        *os.File
}

// worktrees begins the name of each directory that holds worktrees.
const worktrees = "linerate-worktrees-"

// repository names a file beside worktrees, which says whose they are.
const repository = "repository"

// Checkout makes worktrees of two revisions of the repository that dir lies in. An empty head
// is the working tree. An error leaves nothing behind.
func Checkout(ctx context.Context, dir, base, head string) (t *Trees, err error) {
	t = &Trees{Base: &Tree{Name: "base", Asked: base}, Head: &Tree{Name: "head", Asked: head}}
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("--base needs git, and there is none in PATH")
	}
	where, err := git(ctx, dir, nil, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir")
	if err != nil {
		return nil, fmt.Errorf("--base: %s is in no working tree of git (%w)", dir, err)
	}
	top, common, _ := strings.Cut(where, "\n")
	t.top = top
	if t.prefix, err = git(ctx, dir, nil, "rev-parse", "--show-prefix"); err != nil {
		return nil, err
	}
	for _, one := range []*Tree{t.Base, t.Head} {
		if one.Asked == "" {
			continue
		}
		one.Commit, err = git(ctx, top, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", one.Asked+"^{commit}")
		if err != nil {
			return nil, fmt.Errorf("--%s %s: git knows no such commit here; fetch it first (of a shallow clone: git fetch "+
				"--unshallow)", one.Name, strict.Visible(one.Asked, 60))
		}
	}
	if err := t.place(common); err != nil {
		return nil, err
	}
	if head == "" {
		t.Head.Commit, err = t.uncommitted(ctx)
	}
	for _, one := range []*Tree{t.Base, t.Head} {
		at := filepath.Join(t.tmp, one.Name)
		if err == nil {
			_, err = git(ctx, top, nil, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", at, one.Commit)
		}
		one.Dir = filepath.Join(at, t.prefix)
		if _, failed := os.Stat(one.Dir); err == nil && failed != nil {
			err = fmt.Errorf("%v has no directory %s; call from one that both revisions have", one, t.prefix)
		}
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// place makes the directory of the worktrees, and locks it.
func (t *Trees) place(common string) (err error) {
	if t.tmp, err = os.MkdirTemp("", worktrees); err != nil {
		return err
	}
	if t.tmp, err = filepath.EvalSymlinks(t.tmp); err == nil {
		t.lock, err = locked(t.tmp)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(t.tmp, repository), []byte(common), 0o600)
	}
	if err != nil {
		_ = os.RemoveAll(t.tmp)
	}
	return err
}

// uncommitted is a commit of the working tree as it stands; HEAD where that is the same.
func (t *Trees) uncommitted(ctx context.Context) (commit string, err error) {
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.tmp, "index")}
	says := func(env []string, args ...string) (said string) {
		if err == nil {
			said, err = git(ctx, t.top, env, args...)
		}
		return said
	}
	head := says(nil, "rev-parse", "--verify", "HEAD^{commit}")
	says(index, "read-tree", "HEAD") // beginning with HEAD's, files that have not changed are not written again
	says(index, "add", "--all")
	tree, own := says(index, "write-tree"), says(nil, "rev-parse", "HEAD^{tree}")
	if err != nil || tree == own {
		return head, err
	}
	commit = says([]string{"GIT_AUTHOR_NAME=linerate", "GIT_AUTHOR_EMAIL=linerate@localhost",
		"GIT_COMMITTER_NAME=linerate", "GIT_COMMITTER_EMAIL=linerate@localhost"}, "commit-tree", tree, "-p", head, "-m",
		"The working tree, as it was compared")
	return commit, err
}

// Same tells whether both are the same files.
func (t *Trees) Same() bool { return t.Base.Commit == t.Head.Commit }

// lastLines is how much of a failed build's output is told.
const lastLines = 15

// Build runs a command of the shell in both worktrees, one after the other, with the caller's
// environment: a build needs its caches. hold is the call of the lab that holds a command, so
// that none outlives the lab. It tells before each build, and how the output of a failed one ended.
func (t *Trees) Build(ctx context.Context, hold []string, command string, say func(format string, args ...any)) error {
	for _, tree := range []*Tree{t.Base, t.Head} {
		say("building %v", tree)
		var output []string
		p, err := proc.Start(proc.Spec{Dir: tree.Dir, Argv: slices.Concat(hold, []string{"sh", "-c", command}),
			Env: os.Environ(), Held: true, Lines: func(line string) {
				if output = append(output, strict.Line(line, 300)); len(output) > lastLines {
					output = output[1:]
				}
			}})
		if err != nil {
			return err
		}
		select {
		case <-p.Done():
		case <-ctx.Done():
			_ = p.Stop(p.Pid(), 0)
			return context.Cause(ctx)
		}
		// What a build leaves running, as the daemon of a build tool, has been ended.
		if err := p.Err(); err != nil && p.ExitCode() != proc.Forked {
			for _, line := range output {
				say("  %s", line)
			}
			return fmt.Errorf("%v: %q failed (%w)", tree, command, err)
		}
	}
	return nil
}

// Close removes the worktrees, and git's records of them.
func (t *Trees) Close() {
	remove(t.tmp)
	t.lock.Close()
}

// Sweep removes what calls have left that were killed.
func Sweep() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), worktrees+"*"))
	for _, tmp := range all {
		info, err := os.Lstat(tmp)
		if err != nil || !info.IsDir() {
			continue
		}
		if of, ok := info.Sys().(*syscall.Stat_t); !ok || int(of.Uid) != os.Getuid() {
			continue
		}
		if lock, err := locked(tmp); err == nil {
			if whole, err := filepath.EvalSymlinks(tmp); err == nil {
				remove(whole)
			}
			lock.Close()
		}
	}
}

// locked takes the lock of a directory; an error if another process has it.
func locked(tmp string) (*os.File, error) {
	f, err := os.Open(tmp)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// remove removes a directory of worktrees, after git's records of what is in it: if it is
// cut short, the next Sweep still knows whose they are.
func remove(tmp string) {
	common, _ := os.ReadFile(filepath.Join(tmp, repository))
	records := filepath.Join(string(common), "worktrees")
	if filepath.IsAbs(records) && len(common) > 0 {
		all, _ := filepath.Glob(filepath.Join(records, "*", "gitdir"))
		for _, one := range all {
			if of, err := os.ReadFile(one); err == nil && strings.HasPrefix(string(of), tmp+string(filepath.Separator)) {
				_ = os.RemoveAll(filepath.Dir(one))
			}
		}
		_ = os.Remove(records) // git has no such directory without a worktree
	}
	if os.RemoveAll(tmp) == nil {
		return
	}
	// A build may leave directories that nobody may write to, as Go's cache of modules.
	_ = filepath.WalkDir(tmp, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(tmp)
}

// git runs git, and gives what it printed, or as an error the line of what it said that tells why.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = slices.Concat(os.Environ(), []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}, env)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		said := strings.Split(strings.TrimSpace(errs.String()), "\n")
		why := max(slices.IndexFunc(said, func(line string) bool { return strings.HasPrefix(line, "fatal: ") }), 0)
		return "", fmt.Errorf("git %s: %s", args[0], strict.Line(said[why], 200))
	}
	return strings.TrimSpace(out.String()), nil
}
