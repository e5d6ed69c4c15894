package archive

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A repository is a small journal in git: one experiment with a
// run, which names the commit that has the experiment.
type repository struct {
	t    *testing.T
	root journal.Root
}

const server = "c6in-8xlarge"

// committed is when the experiment was committed.
var committed = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newRepository(t *testing.T) repository {
	t.Helper()
	r := repository{t, journal.Root(t.TempDir())}
	for _, name := range []string{archivetest.ThreadsDesign, c6in} {
		archivetest.Write(t, r.root.Path(name), archivetest.Read(t, filepath.Join(archivetest.Repository, name)))
	}
	r.git("init", "-q", "-b", "main", "--template=")
	r.commit()
	r.add(r.run(1))
	r.commit()
	return r
}

// git runs git with nothing of the machine's settings.
func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", string(r.root), "-c", "core.hooksPath=/dev/null", "-c", "user.name=x",
		"-c", "user.email=x@example.org"}, args...)...)
	at := committed.Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_DATE="+at,
		"GIT_COMMITTER_DATE="+at)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r repository) commit() {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
}

// run makes up a run that names the present commit.
func (r repository) run(seed uint64) *results.File {
	r.t.Helper()
	x, err := experiment.Parse("11-threads", []byte(archivetest.Read(r.t, r.root.Path(archivetest.ThreadsDesign))))
	if err != nil {
		r.t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{Experiment: x, Host: server, Started: committed.Add(time.Duration(seed) * time.Hour),
		Seed: seed, Blocks: 2})
	f.Provenance.Commit = r.git("rev-parse", "HEAD")
	return f
}

// add writes a run.
func (r repository) add(f *results.File) string {
	r.t.Helper()
	data, err := results.Encode(f)
	if err != nil {
		r.t.Fatal(err)
	}
	path := r.root.Result(f.Experiment, f.Run)
	archivetest.Write(r.t, path, string(data))
	return r.root.Rel(path)
}

func (r repository) edit(path, old, new string) {
	r.t.Helper()
	archivetest.Edit(r.t, r.root.Path(path), old, new)
}

func (r repository) remove(path string) {
	r.t.Helper()
	if err := os.RemoveAll(r.root.Path(path)); err != nil {
		r.t.Fatal(err)
	}
}
