package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
		{"a file of more than any profile has",
			func(t *testing.T, r journal.Root) {
				replace(t, r,
					make([]byte, mostPacked+1))
			}, archivetest.LockFile, at + "more than 4194304 bytes"},
		// Its profiles still belong to it.
		{"a run that is faulty itself", func(t *testing.T, r journal.Root) {
			archivetest.Edit(t, r.Path(archivetest.LockFile), `"schema_version": 3`, `"schema_version": 99`)
		}, archivetest.LockFile, "/schema_version: version 99"},
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
