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

// It builds two git revisions, each in a worktree of its own below a directory for temporary files. Without a name for
// the second, uncommitted changes count too: they go into a commit that no branch has, which git removes when it next
// collects garbage. What git ignores, such as a folder of installed packages, the build has to make.

// cleaner waits for the end of its input, which comes with that of this process, however it ends, and removes the worktrees.
// A build may leave directories that nobody may write to, and may write while it is ended.
const cleaner = `cat
for i in 1 2 3 4 5; do
  rm -rf "$1"/* && break
  chmod -R u+w "$1"
  sleep 0.2
done
for tree in base head; do
  git -C "$2" worktree remove --force --force "$1/$tree"
done
rmdir "$1"`

// uncommitted prints a commit of the working tree as it is, which is HEAD where that is the same.
const uncommitted = `set -e
git read-tree HEAD
git add --all
tree=$(git write-tree)
[ "$tree" != "$(git rev-parse HEAD^{tree})" ] || exec git rev-parse HEAD
export GIT_AUTHOR_NAME=linerate GIT_AUTHOR_EMAIL=linerate@localhost
export GIT_COMMITTER_NAME=linerate GIT_COMMITTER_EMAIL=linerate@localhost
git commit-tree "$tree" -p HEAD -m "The working tree, as it was compared"`

// checkout checks out two revisions of the repository that the commands start in, and builds them; an
// empty head is the working tree. The servers then start there. The caller calls remove in the end, if there is no error.
func (b *Bench) checkout(ctx context.Context) (remove func(), err error) {
	where, err := said(ctx, b.Dir, "git", "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("--base needs git, and a working tree: %w", err)
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
		if err := b.build(ctx, b.Servers[i], revision, dir, top, prefix); err != nil {
			remove()
			return nil, err
		}
	}
	if b.Servers[0].Commit == b.Servers[1].Commit {
		b.note("base and head are the same files")
	}
	return remove, nil
}

// build makes the worktree of one revision, and builds it.
func (b *Bench) build(ctx context.Context, s *Server, revision, dir, top, prefix string) (err error) {
	name := fmt.Sprintf("%s (%s)", s.Name, revision)
	if revision == "" {
		name = s.Name + " (the working tree)"
		s.Commit, err = said(ctx, top, "env", "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "sh", "-c", uncommitted)
	} else if s.Commit, err = said(ctx, top, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		err = fmt.Errorf("--%s %s: git knows no such commit here; fetch it first (of a shallow clone: git fetch --unshallow)",
			s.Name, strict.Visible(revision, 60))
	}
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, s.Name)
	if _, err = said(ctx, top, "git", "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", tree, s.Commit); err != nil {
		return err
	}
	if s.Dir = filepath.Join(tree, prefix); b.Build != "" {
		// It has the caller's environment, since a build needs its caches, and is held, so that none outlives this call.
		b.Say("building %s", name)
		var last []string // lines
		err := proc.Run(ctx, proc.Spec{Dir: s.Dir, Argv: slices.Concat(b.Self, []string{measure.HoldCall, "sh", "-c", b.Build}),
			Env: os.Environ(), Held: true, Lines: func(line string) { last = append(last[max(0, len(last)-14):], line) }})
		if failed, is := errors.AsType[proc.Failure](err); is {
			exit, _ := errors.AsType[*exec.ExitError](failed.Status)
			if err = nil; exit == nil || exit.ExitCode() != proc.Forked { // the daemon of a build tool may stay, and has been ended
				for _, line := range last {
					b.Say("  %s", strict.Line(line, 300))
				}
				err = fmt.Errorf("%s: %q failed (%w)", name, b.Build, failed.Status)
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := os.Stat(s.Dir); err != nil {
		return fmt.Errorf("%s has no directory %s; call from one that both revisions have", name, prefix)
	}
	return nil
}

// said runs a program in a directory, and gives what it printed, or as an error what it complained of.
func said(ctx context.Context, dir string, argv ...string) (string, error) {
	var out bytes.Buffer
	err := proc.Run(ctx, proc.Spec{Dir: dir, Argv: argv, Env: append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"), Stdout: &out})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %s", argv[0], strict.Line(err.Error(), 300))
	}
	return strings.TrimSpace(out.String()), err
}
