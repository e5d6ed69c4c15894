package host

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// Differ names a checkout's commit and the paths below madeOf that differ from
// it: changed, deleted, or not tracked.
//
// The files themselves are compared, not git's index, which can be told to
// ignore changes. Files that git ignores are included, since they are compiled
// or run all the same.
func Differ(root string) (commit string, paths []string) {
	return differ(root, func(string) bool { return true })
}

func differ(root string, matters func(path string) bool) (string, []string) {
	commit, tracked, err := tree(root)
	if err != nil {
		return UnknownCommit, []string{"all that has no commit"}
	}
	var paths []string
	for _, part := range madeOf {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(root, path) // the walk begins below the root
			rel = filepath.ToSlash(rel)
			id, ok := tracked[rel]
			delete(tracked, rel)
			if !matters(rel) {
				return nil
			}
			same := false
			if ok {
				if same, err = HasID(path, d, id); err != nil {
					return err
				}
			}
			if !same {
				paths = append(paths, rel)
			}
			return nil
		})
		if err != nil {
			paths = append(paths, part) // an unreadable file may differ
		}
	}
	for rel := range tracked {
		if matters(rel) {
			paths = append(paths, rel)
		}
	}
	slices.Sort(paths)
	return commit, paths
}

// tree asks git for the commit and its objects below madeOf, by path.
func tree(root string) (commit string, objects map[string]string, err error) {
	git := func(args ...string) (string, error) {
		out, err := Git(context.Background(), root, args...).Output()
		return string(out), err
	}
	// A lab inside another project's checkout has no commit.
	if prefix, err := git("rev-parse", "--show-prefix"); err != nil || strings.TrimSpace(prefix) != "" {
		return "", nil, fmt.Errorf("%s is not the top of a checkout", root)
	}
	if commit, err = git("rev-parse", "--verify", "HEAD"); err != nil {
		return "", nil, err
	}
	commit = strings.TrimSpace(commit)
	list, err := git(append([]string{"ls-tree", "-r", "-z", commit, "--"}, madeOf...)...)
	return commit, Objects(list), err
}

// Objects are those that git ls-tree -r -z lists, by path.
func Objects(list string) map[string]string {
	out := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		about, path, ok := strings.Cut(entry, "\t")
		if f := strings.Fields(about); ok && len(f) == 3 {
			out[path] = f[2]
		}
	}
	return out
}

// HasID tells whether a file's content is the git object of that name.
func HasID(path string, d fs.DirEntry, id string) (bool, error) {
	var content []byte
	var err error
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		var to string
		to, err = os.Readlink(path)
		content = []byte(to)
	case d.Type().IsRegular():
		content, err = os.ReadFile(path)
	default:
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var h hash.Hash = sha1.New()
	if len(id) == hex.EncodedLen(sha256.Size) {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil)) == id, nil
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
