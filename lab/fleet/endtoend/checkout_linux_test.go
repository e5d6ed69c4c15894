package endtoend

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/host"
)

// programs are those of the lab that a fleet's run starts.
var programs = []string{"lab", "fiber_server", "http_load"}

// Copy makes a small checkout of the repository at top in dir: the scripts, the
// experiments and the programs that make build has left, at one commit of its own,
// with no data. more has further files by their paths from the root, such as
// experiments. Built programs and packages are linked, not copied.
func Copy(top, dir string, more map[string]string) error {
	// Programs that were built from other sources would be tested in place of these.
	if _, err := host.FindPrograms(top, filepath.Join(top, ".tools/bin/lab"), programs); err != nil {
		return err
	}
	for _, part := range []string{"lab/scripts", "lab/experiments"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(top, part))); err != nil {
			return err
		}
	}
	for name, text := range more {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	for _, name := range []string{"data/results", "data/hosts", ".tools/bin"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	links := []string{"node_modules", ".tools/ansible"}
	for _, name := range programs {
		links = append(links, ".tools/bin/"+name)
	}
	for _, name := range links {
		if err := os.Symlink(filepath.Join(top, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return commit(dir)
}

// commit makes a repository of a directory, or another commit in it. Of who made it
// and when nothing depends on the machine, so equal checkouts are at one commit.
func commit(dir string) error {
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "lab"},
		{"commit", "-q", "--allow-empty", "-m", "A checkout for a test fleet"},
	} {
		git := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=test", "-c", "user.email=test@example.org",
			"-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"}, args...)...)
		git.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2000-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2000-01-01T00:00:00Z",
			"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

// Checkouts gives every host of the fleet, the controller too, a checkout by Copy.
func (f *Fleet) Checkouts(top string, more map[string]string) error {
	for _, name := range f.Names {
		if err := Copy(top, f.Root(name), more); err != nil {
			return err
		}
	}
	return nil
}
