package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

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

// Trees are the worktrees of one call: of the base, and of the head.
type Trees struct {
	dir  string
	lock *os.File
}

const (
	worktrees  = "linerate-worktrees-" // begins the name of each directory that holds worktrees
	repository = "repository"          // names a file beside worktrees, which says whose they are
	base, head = "base", "head"        // the names of the two, and of their servers
)

// Build checks out two revisions of the repository that the commands start in, and builds them; an
// empty head is the working tree. The servers then start there. The caller closes the trees; an error
// leaves nothing behind.
func (b *Bench) Build(ctx context.Context, from, to, command string) (t *Trees, err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("--base needs git, and there is none in PATH")
	}
	where, err := git(ctx, b.Dir, nil, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("--base: %s is in no working tree of git (%w)", b.Dir, err)
	}
	at := append(strings.Split(where, "\n"), "") // the last is empty at the top
	top, common, prefix := at[0], at[1], at[2]
	if t, err = place(common); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	for i, asked := range []string{from, to} {
		s := &b.Servers[i]
		name := fmt.Sprintf("%s (%s)", s.Name, asked)
		if asked == "" {
			name = s.Name + " (the working tree)"
			s.Commit, err = t.uncommitted(ctx, top)
		} else if s.Commit, err = git(ctx, top, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", asked+"^{commit}"); err != nil {
			err = fmt.Errorf("--%s %s: git knows no such commit here; fetch it first (of a shallow clone: git fetch --unshallow)",
				s.Name, strict.Visible(asked, 60))
		}
		if err != nil {
			return t, err
		}
		tree := filepath.Join(t.dir, s.Name)
		if _, err = git(ctx, top, nil, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", tree, s.Commit); err != nil {
			return t, err
		}
		if s.Dir = filepath.Join(tree, prefix); command != "" {
			err = b.build(ctx, name, s.Dir, command)
		}
		if _, failed := os.Stat(s.Dir); err == nil && failed != nil {
			err = fmt.Errorf("%s has no directory %s; call from one that both revisions have", name, prefix)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// place makes the directory of the worktrees, and locks it.
func place(common string) (t *Trees, err error) {
	t = &Trees{}
	if t.dir, err = os.MkdirTemp("", worktrees); err != nil {
		return nil, err
	}
	if t.dir, err = filepath.EvalSymlinks(t.dir); err == nil {
		t.lock, err = locked(t.dir)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(t.dir, repository), []byte(common), 0o600)
	}
	return t, err
}

// uncommitted is a commit of the working tree as it stands; HEAD where that is the same.
func (t *Trees) uncommitted(ctx context.Context, top string) (commit string, err error) {
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(t.dir, "index")}
	says := func(env []string, args ...string) (said string) {
		if err == nil {
			said, err = git(ctx, top, env, args...)
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
	return says([]string{"GIT_AUTHOR_NAME=linerate", "GIT_AUTHOR_EMAIL=linerate@localhost", "GIT_COMMITTER_NAME=linerate",
		"GIT_COMMITTER_EMAIL=linerate@localhost"}, "commit-tree", tree, "-p", head, "-m", "The working tree, as it was compared"), err
}

// lastLines is how much of a failed build's output is told.
const lastLines = 15

// build runs a command of the shell, with the caller's environment: a build needs its caches. It is
// held, so that none outlives this call, and tells how the output of a failed one ended.
func (b *Bench) build(ctx context.Context, name, dir, command string) error {
	b.Say("building %s", name)
	var output []string
	p, err := proc.Start(proc.Spec{Dir: dir, Argv: slices.Concat(b.Self, []string{measure.HoldCall, "sh", "-c", command}),
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
			b.Say("  %s", line)
		}
		return fmt.Errorf("%s: %q failed (%w)", name, command, err)
	}
	return nil
}

// Close removes the worktrees, and git's records of them.
func (t *Trees) Close() {
	remove(t.dir)
	t.lock.Close()
}

// Sweep removes what calls have left that were killed.
func Sweep() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), worktrees+"*"))
	for _, dir := range all {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() {
			continue
		}
		if lock, err := locked(dir); err == nil {
			if whole, err := filepath.EvalSymlinks(dir); err == nil {
				remove(whole)
			}
			lock.Close()
		}
	}
}

// locked takes the lock of a directory; an error if another process has it.
func locked(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// remove removes a directory of worktrees and git's records of them, which it knows until the end: if it is cut
// short, the next Sweep does the rest. A build may leave directories that nobody may write to.
func remove(dir string) {
	common, _ := os.ReadFile(filepath.Join(dir, repository))
	for _, name := range []string{base, head} {
		tree := filepath.Join(dir, name)
		if os.RemoveAll(tree) != nil {
			_ = exec.Command("chmod", "-R", "u+w", tree).Run()
			_ = os.RemoveAll(tree)
		}
		if len(common) > 0 {
			_, _ = git(context.Background(), string(common), nil, "worktree", "remove", "--force", "--force", tree)
		}
	}
	_ = os.RemoveAll(dir)
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
