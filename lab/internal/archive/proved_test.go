package archive

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestRunsAreComparedWithTheirCommit(t *testing.T) {
	for _, c := range []struct {
		name  string
		forge func(r repository, f *results.File)
		fault string // part of the fault; empty: none
		open  string // part of why it is open; empty: it is not
	}{
		{"as it was", func(repository, *results.File) {}, "", ""},
		{"an experiment that was committed after the run", func(r repository, f *results.File) {
			commit := f.Provenance.Commit
			r.edit(archivetest.ThreadsDesign, "budget_s = ", "budget_s = 1")
			r.commit()
			*f = *r.run(2)
			f.Provenance.Commit = commit
		}, "but lab/experiments/11-threads.toml at commit ", ""},
		{"a commit without the experiment", func(r repository, f *results.File) {
			text := archivetest.Read(r.t, r.root.Path(archivetest.ThreadsDesign))
			r.remove(archivetest.ThreadsDesign)
			r.commit()
			f.Provenance.Commit = r.git("rev-parse", "HEAD")
			archivetest.Write(r.t, r.root.Path(archivetest.ThreadsDesign), text)
		}, "has no lab/experiments/11-threads.toml", ""},
		{"a commit that a squash lost", func(r repository, f *results.File) {
			r.commit()
			*f = *r.run(2)
			r.git("reset", "-q", "--hard", "HEAD~1")
		}, "is not in the history of this checkout; git merge it", ""},
		{"a run that began before its commit", func(_ repository, f *results.File) {
			early := f.Provenance.StartedAt.Sub(committed) + 2*time.Hour
			f.Provenance.StartedAt = f.Provenance.StartedAt.Add(-early)
			f.Run = "20260301t100000z-" + server
			f.Provenance.FinishedAt = f.Provenance.FinishedAt.Add(-early)
			for i := range f.Trials {
				f.Trials[i].StartedAt = f.Trials[i].StartedAt.Add(-early)
			}
		}, "/provenance/started_at: 2026-03-01T10:00:00Z is before 2026-03-01T12:00:00Z", ""},
		{"dirty", func(_ repository, f *results.File) { f.Provenance.Dirty = true }, "", "files of the lab that no commit has"},
		{"outside a checkout", func(_ repository, f *results.File) { f.Provenance.Commit = "unknown" }, "",
			"files of the lab that no commit has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepository(t)
			f := r.run(2)
			c.forge(r, f)
			path := r.add(f)
			proof, faults, err := open(t, r.root).Prove()
			if err != nil || proof.Unchecked != "" {
				t.Fatalf("%+v, %v", proof, err)
			}
			for _, said := range []struct {
				what string
				got  []Fault
				want string
			}{{"faults", faults, c.fault}, {"open", proof.Open, c.open}} {
				switch {
				case said.want == "" && len(said.got) > 0:
					t.Errorf("%s: %v", said.what, said.got)
				case said.want != "" && (len(said.got) != 1 || said.got[0].Path != path ||
					!strings.Contains(said.got[0].Err.Error(), said.want)):
					t.Errorf("%s: %v, want %q", said.what, said.got, said.want)
				}
			}
		})
	}
}

func TestWithoutHistoryNothingIsChecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r repository) journal.Root
		says   string
	}{
		{"a tarball", func(r repository) journal.Root { r.remove(".git"); return r.root }, "no git history here"},
		{"a shallow clone", func(r repository) journal.Root {
			to := r.t.TempDir()
			r.git("clone", "-q", "--depth=1", "file://"+string(r.root), to)
			return journal.Root(to)
		}, "no full git history here; git fetch --unshallow"},
		{"a clone without files of earlier commits", func(r repository) journal.Root {
			to := r.t.TempDir()
			r.git("config", "uploadpack.allowFilter", "true")
			r.git("clone", "-q", "--filter=blob:none", "file://"+string(r.root), to)
			return journal.Root(to)
		}, "no full git history here"},
		{"a tarball in another project", func(r repository) journal.Root {
			to := repository{r.t, journal.Root(r.t.TempDir())}
			to.git("init", "-q")
			to.commit()
			r.remove(".git")
			if err := os.CopyFS(to.root.Path("journal"), os.DirFS(string(r.root))); err != nil {
				r.t.Fatal(err)
			}
			return journal.Root(to.root.Path("journal"))
		}, "no git history here"},
		{"a checkout without a commit", func(r repository) journal.Root {
			r.remove(".git")
			r.git("init", "-q")
			return r.root
		}, "no git history here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := c.change(newRepository(t))
			proof, faults, err := open(t, root).Prove()
			if err != nil || len(faults) > 0 || !strings.Contains(proof.Unchecked, c.says) {
				t.Errorf("%+v, %v, %v", proof, faults, err)
			}
		})
	}
}
