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

// cleaner is a shell script that waits for the end of its input, which comes with that of this process, however it
// ends. Then it removes the worktrees, and git's records of them. A build may leave directories that nobody may write
// to, and may write while it is ended.
const cleaner = `cat
for i in 1 2 3 4 5; do
  rm -rf "$1" && break
  chmod -R u+w "$1"
  sleep 0.2
done
for tree in base head; do
  git -C "$2" worktree remove --force --force "$1/$tree"
done`

// Checkout checks out two revisions of the repository that the commands start in, and builds them; an
// empty head is the working tree. The servers then start there. The caller calls remove in the end, if there is no error.
func (b *Bench) Checkout(ctx context.Context) (remove func(), err error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("--base needs git, and there is none in PATH")
	}
	where, err := git(ctx, b.Dir, nil, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("--base: %s is in no working tree of git (%w)", b.Dir, err)
	}
	at := append(strings.Split(where, "\n"), "") // the last is empty at the top
	top, common, prefix := at[0], at[1], at[2]
	dir, err := os.MkdirTemp("", "linerate-worktrees-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", cleaner, "sh", dir, common)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of a terminal is for it
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		os.Remove(dir)
		return nil, err
	}
	remove = func() {
		in.Close()
		_ = cmd.Wait()
	}
	for i, revision := range []string{b.Base, b.Head} {
		if err := b.checkout(ctx, &b.Servers[i], revision, dir, top, prefix); err != nil {
			remove()
			return nil, err
		}
	}
	return remove, nil
}

// checkout makes the worktree of one revision, and builds it.
func (b *Bench) checkout(ctx context.Context, s *Server, revision, dir, top, prefix string) (err error) {
	name := fmt.Sprintf("%s (%s)", s.Name, revision)
	if revision == "" {
		name = s.Name + " (the working tree)"
		s.Commit, err = uncommitted(ctx, top, filepath.Join(dir, "index"))
	} else if s.Commit, err = git(ctx, top, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		err = fmt.Errorf("--%s %s: git knows no such commit here; fetch it first (of a shallow clone: git fetch --unshallow)",
			s.Name, strict.Visible(revision, 60))
	}
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, s.Name)
	if _, err = git(ctx, top, nil, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", tree, s.Commit); err != nil {
		return err
	}
	if s.Dir = filepath.Join(tree, prefix); b.Build != "" {
		if err := b.build(ctx, name, s.Dir); err != nil {
			return err
		}
	}
	if _, err := os.Stat(s.Dir); err != nil {
		return fmt.Errorf("%s has no directory %s; call from one that both revisions have", name, prefix)
	}
	return nil
}

// uncommitted is a commit of the working tree as it stands; HEAD where that is the same.
func uncommitted(ctx context.Context, top, indexed string) (commit string, err error) {
	index := []string{"GIT_INDEX_FILE=" + indexed}
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
func (b *Bench) build(ctx context.Context, name, dir string) error {
	b.Say("building %s", name)
	var output []string
	p, err := proc.Start(proc.Spec{Dir: dir, Argv: slices.Concat(b.Self, []string{measure.HoldCall, "sh", "-c", b.Build}),
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
		return fmt.Errorf("%s: %q failed (%w)", name, b.Build, err)
	}
	return nil
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
