package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestOpenNamesFaultsOfProfiles(t *testing.T) {
	const packed = "data/profiles/" + archivetest.LockRun + ".zip"
	at := "/conditions/1/profiles/0: " + packed + ": "
	// change gives one of the raw profiles other bytes, or takes it away.
	change := func(to []byte) func(t *testing.T, r journal.Root) {
		return func(t *testing.T, r journal.Root) {
			f, err := results.Read(r.Path(archivetest.LockFile))
			if err != nil {
				t.Fatal(err)
			}
			raw := map[string][]byte{}
			for _, c := range f.Conditions {
				for _, named := range c.Profiles {
					if raw[named.File], err = results.ReadRaw(r.Path(packed), named.File); err != nil {
						t.Fatal(err)
					}
				}
			}
			name := archivetest.LockRun + "/c2-block.pb.gz"
			if raw[name] = to; to == nil {
				delete(raw, name)
			}
			data, err := results.PackRaw(raw)
			if err != nil {
				t.Fatal(err)
			}
			archivetest.Write(t, r.Path(packed), string(data))
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, r journal.Root)
		path  string
		says  string
	}{
		{"an archive that is gone", func(t *testing.T, r journal.Root) {
			if err := os.Remove(r.Path(packed)); err != nil {
				t.Fatal(err)
			}
		}, archivetest.LockFile, "/conditions/0/profiles/0: " + packed + ": missing"},
		{"an archive that is none", func(t *testing.T, r journal.Root) {
			archivetest.Write(t, r.Path(packed), "x")
		}, archivetest.LockFile, "/conditions/0/profiles/0: " + packed + ": zip: "},
		{"a file that is gone", change(nil), archivetest.LockFile, at + "the archive has no c2-block.pb.gz"},
		{"a file that was changed", change([]byte("x")), archivetest.LockFile, at + "its SHA-256 is "},
		{"a file of more than any profile has", change(make([]byte, 5<<20)), archivetest.LockFile, at + "c2-block.pb.gz has more than "},
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
	j, faults, err := Open(root)
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	if err := j.Add(f); err == nil || !strings.Contains(err.Error(), "/conditions/0/profiles/0: data/profiles/"+
		archivetest.LockRun+".zip: missing") {
		t.Errorf("without its profiles: %v", err)
	}
	if err := os.Rename(root.Path("away"), before); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(f); err != nil {
		t.Fatal(err)
	}
}
