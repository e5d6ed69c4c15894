package host

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// madeOf has the paths, from the root, of everything that can change a
// measurement and is not installed. Results that a run adds, and texts and
// pages, do not change the lab.
var madeOf = []string{"lab", "Makefile", "package.json", "package-lock.json", ".npmrc", "go.work"}

// UnknownCommit is recorded if the commit cannot be found out.
const UnknownCommit = "unknown"

// Commit names a checkout's commit, and whether the files in madeOf differ from
// it. Outside a checkout the commit is unknown and dirty is true.
func Commit(root string) (commit string, dirty bool) {
	commit, differ := Differ(root)
	return commit, len(differ) > 0
}

// Differ names a checkout's commit and the paths below madeOf that differ from it: changed, deleted, or
// not tracked. It asks git, which can be told to look away.
func Differ(root string) (commit string, paths []string) {
	git := func(args ...string) (string, error) {
		out, err := Git(context.Background(), root, args...).Output()
		return string(out), err
	}
	unknown := []string{"all that has no commit"}
	// A lab inside another project's checkout has no commit.
	if prefix, err := git("rev-parse", "--show-prefix"); err != nil || strings.TrimSpace(prefix) != "" {
		return UnknownCommit, unknown
	}
	commit, err := git("rev-parse", "--verify", "HEAD")
	if err != nil {
		return UnknownCommit, unknown
	}
	list, err := git(append([]string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"}, madeOf...)...)
	if err != nil {
		return UnknownCommit, unknown
	}
	for entry := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		if len(entry) > 3 { // two letters that say how, and a blank
			paths = append(paths, entry[3:])
		}
	}
	slices.Sort(paths)
	return strings.TrimSpace(commit), paths
}

// Git is a git command for the checkout at root.
func Git(ctx context.Context, root string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects", "-C", root}, args...)...)
	// Variables such as GIT_DIR would make git use another checkout. A partial clone
	// would fetch what it lacks.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_NO_LAZY_FETCH=1")
	return cmd
}
