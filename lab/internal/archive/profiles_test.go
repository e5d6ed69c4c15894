package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestOpenNamesFaultsOfProfiles(t *testing.T) {
	const raw = "data/profiles/" + archivetest.LockRun + "/c2-block.pb.gz"
	at := "/conditions/1/profiles/0: " + raw + ": "
	// replace makes the run name other bytes, with their digest.
	replace := func(t *testing.T, r journal.Root, data []byte) {
		t.Helper()
		old := sha256.Sum256([]byte(archivetest.Read(t, r.Path(raw))))
		sum := sha256.Sum256(data)
		archivetest.Write(t, r.Path(raw), string(data))
		text := archivetest.Read(t, r.Path(archivetest.LockFile))
		// The first occurrence is c1's file, which has the same bytes.
		first := strings.Index(text, `c2-block.pb.gz`)
		text = text[:first] + strings.Replace(text[first:], hex.EncodeToString(old[:]), hex.EncodeToString(sum[:]), 1)
		archivetest.Write(t, r.Path(archivetest.LockFile), text)
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, r journal.Root)
		path  string
		says  string
	}{
		{"a file that is gone", func(t *testing.T, r journal.Root) {
			if err := os.Remove(r.Path(raw)); err != nil {
				t.Fatal(err)
			}
		}, archivetest.LockFile, at + "missing"},
		{"a file that was changed", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path(raw), archivetest.Read(t, r.Path(raw))+"x")
		}, archivetest.LockFile, at + "its SHA-256 is "},
		{"a file that is no profile", func(t *testing.T, r journal.Root) { replace(t, r, []byte("no profile")) },
			archivetest.LockFile, at + "parsing profile"},
		{"a file cut short", func(t *testing.T, r journal.Root) {
			data := []byte(archivetest.Read(t, r.Path(raw)))
			replace(t, r, data[:len(data)/2])
		}, archivetest.LockFile, at},
		{"a file of more than any profile has",
			func(t *testing.T, r journal.Root) {
				replace(t, r,
					make([]byte, mostPacked+1))
			}, archivetest.LockFile, at + "more than 4194304 bytes"},
		{"a file that unpacks to more than any profile has", func(t *testing.T, r journal.Root) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			zeros := make([]byte, 1<<20)
			for range mostUnpacked>>20 + 1 {
				if _, err := z.Write(zeros); err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			replace(t, r, b.Bytes())
		}, archivetest.LockFile, at + "unpacks to more than 67108864 bytes"},
		{"a profile of another kind", func(t *testing.T,
			r journal.Root) {
			replace(t, r, archivetest.RawLock(t, "heap", "gofakeit", 2))
		}, archivetest.LockFile, at + "profiles: block: the profile has no sample type"},
		{"a profile of other trials", func(t *testing.T,
			r journal.Root) {
			replace(t, r, archivetest.RawLock(t, "block", "pool", 2))
		}, archivetest.LockFile, at + "it holds 6 s, but its trials 18"},
		{"a profile of another window", func(t *testing.T, r journal.Root) {
			p, err := profile.ParseData(archivetest.RawLock(t, "block", "gofakeit", 2))
			if err != nil {
				t.Fatal(err)
			}
			p.DurationNanos *= 2 // as where the processes' windows were added up
			var b bytes.Buffer
			if err := p.Write(&b); err != nil {
				t.Fatal(err)
			}
			replace(t, r, b.Bytes())
		}, archivetest.LockFile, at + "its window is 12 s, but its trials' are 6 s together"},
		{"a package of a trial that the raw profile does not have", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.LockFile), `"net/http":0.333333333`, `"main/planted":0.333333333`)
		}, archivetest.LockFile, "/conditions/0/profiles/0: " + strings.Replace(raw, "c2", "c1", 1) +
			": packages/main/planted has a share of 0.000000 in it, but of 0.166667 in its trials"},
		{"kinds of work swapped", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.LockFile), `"lock":0.666666667`, `"read":0.666666667`)
		}, archivetest.LockFile, "/conditions/0/profiles/0: " + strings.Replace(raw, "c2", "c1", 1) +
			": work/lock has a share of 0.666667 in it, but of 0.333333 in its trials"},
		{"a profile of no run", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path("data/profiles/"+archivetest.LockRun+"/c9-block.pb.gz"), "x")
		}, "data/profiles/" + archivetest.LockRun + "/c9-block.pb.gz", "no run names it"},
		{"profiles of a run that is gone", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path("data/profiles/98-made-lock/gone/c1-cpu.pb.gz"), "x")
		}, "data/profiles/98-made-lock/gone/c1-cpu.pb.gz", "no run names it"},
		// Its profiles still belong to it.
		{"a run that is faulty itself", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.LockFile), `"schema_version": 3`, `"schema_version": 99`)
		}, archivetest.LockFile, "/schema_version: version 99"},
		{"a kind of work that is none", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.LockFile), `"lock":`, `"locks":`)
		}, archivetest.LockFile, "/trials/0/profiles/0/work/locks: "},
		{"a design that profiles nothing", func(t *testing.T, r journal.Root) {
			archivetest.Redesign(t, r, "[profile]\nseconds = 1\ncompare = \"index\"\n", "")
		}, archivetest.LockFile, "/trials/0/profiles/0: 98-made-lock profiles nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := archivetest.ProfiledClone(t)
			c.spoil(t, root)
			_, faults, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || faults[0].Path != filepath.FromSlash(c.path) ||
				!strings.HasPrefix(faults[0].Err.Error(), c.says) {
				t.Fatalf("faults %v, want %s: %s", faults, c.path, c.says)
			}
			if text := faults[0].Err.Error(); strings.Contains(text, string(root)) || strings.Contains(text, "\n") {
				t.Errorf("%q is not one line, or says where the clone lies", text)
			}
		})
	}
}

func TestOnlyProfilesLieAmongProfiles(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	stray := "data/profiles/" + archivetest.LockRun + "/notes.gz"
	archivetest.Write(t, root.Path(stray), "x")
	if _, _, err := Open(root); err == nil ||
		!strings.Contains(err.Error(), filepath.FromSlash(stray)+": only .pb.gz files belong there") {
		t.Errorf("%v", err)
	}
}

func TestARunIsAddedWithItsProfiles(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	f, err := results.Read(root.Path(archivetest.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(root.Path(archivetest.LockFile)); err != nil {
		t.Fatal(err)
	}
	// The journal was read before the run was added, as when a run ends.
	before := root.Path("data", "profiles")
	if err := os.Rename(before, root.Path("away")); err != nil {
		t.Fatal(err)
	}
	design := root.Design(f.Provenance.ExperimentSHA256)
	if err := os.Remove(design); err != nil {
		t.Fatal(err)
	}
	j, faults, err := Open(root)
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	if err := j.Add(f); err == nil || !strings.Contains(err.Error(), ".toml: missing") {
		t.Errorf("without its design: %v", err)
	}
	archivetest.Write(t, design, archivetest.LockDesign)
	if err := j.Add(f); err == nil || !strings.Contains(err.Error(), "/conditions/0/profiles/0: data/profiles/"+
		archivetest.LockRun+"/c1-block.pb.gz: missing") {
		t.Errorf("without its profiles: %v", err)
	}
	if err := os.Rename(root.Path("away"), before); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(f); err != nil {
		t.Fatal(err)
	}
}
