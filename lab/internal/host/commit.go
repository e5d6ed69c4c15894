package host

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// madeOf has the paths, from the root, of everything that can change a measurement and is not installed.
// Results that a run adds, and texts and pages, do not change the lab.
var madeOf = []string{"lab", "Makefile", "package.json", "package-lock.json", ".npmrc", "go.work"}

// UnknownCommit is the record of a commit that nobody could find out.
const UnknownCommit = "unknown"

// Differ names a checkout's commit and the paths below madeOf that differ from it: changed, deleted, or
// not tracked. Outside a checkout the commit is unknown. It asks git, which can be told to look away.
func Differ(root string) (commit string, paths []string) {
	git := func(args ...string) (out string) {
		text, err := Git(context.Background(), root, args...).Output()
		if err != nil {
			return "?"
		}
		return string(text)
	}
	commit = strings.TrimSpace(git("rev-parse", "--verify", "HEAD"))
	list := git(append([]string{"status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"}, madeOf...)...)
	// A lab inside another project's checkout has no commit.
	if commit == "?" || list == "?" || strings.TrimSpace(git("rev-parse", "--show-prefix")) != "" {
		return UnknownCommit, []string{"all that has no commit"}
	}
	for entry := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		if len(entry) > 3 { // two letters that say how, and a blank
			paths = append(paths, entry[3:])
		}
	}
	slices.Sort(paths)
	return commit, paths
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
