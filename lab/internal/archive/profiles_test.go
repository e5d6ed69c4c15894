package archive

import (
	"os"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestOpenNamesFaultsOfProfiles(t *testing.T) {
	const packed = "data/profiles/" + archivetest.LockRun + ".zip"
	// change packs one raw profile alone, with these bytes.
	change := func(name string, to []byte) func(t *testing.T, r journal.Root) {
		return func(t *testing.T, r journal.Root) {
			data, err := results.PackRaw(map[string][]byte{archivetest.LockRun + "/" + name: to})
			if err != nil {
				t.Fatal(err)
			}
			archivetest.Write(t, r.Path(packed), string(data))
		}
	}
	for _, c := range []struct {
		spoil func(t *testing.T, r journal.Root)
		says  string
	}{
		{func(t *testing.T, r journal.Root) { os.Remove(r.Path(packed)) }, packed + ": missing"},
		{func(t *testing.T, r journal.Root) { archivetest.Write(t, r.Path(packed), "x") }, packed + ": zip: "},
		{change("x", nil), packed + ": the archive has no c1-block.pb.gz"},
		{change("c1-block.pb.gz", []byte("x")), packed + ": its SHA-256 is "},
		{change("c1-block.pb.gz", make([]byte, 5<<20)), packed + ": c1-block.pb.gz has more than "},
	} {
		root := archivetest.ProfiledClone(t)
		c.spoil(t, root)
		hasFault(t, root, archivetest.LockFile, "/conditions/0/profiles/0: "+c.says)
	}
}

func TestARunIsAddedWithItsProfiles(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	f, err := results.Read(root.Path(archivetest.LockFile))
	if err != nil {
		t.Fatal(err)
	}
	// The journal was read before the run was added, as when a run ends.
	if err := os.Remove(root.Path(archivetest.LockFile)); err != nil {
		t.Fatal(err)
	}
	j := open(t, root)
	profiles := root.Path("data", "profiles")
	if err := os.Rename(profiles, root.Path("away")); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(f); err == nil || !strings.Contains(err.Error(), archivetest.LockRun+".zip: missing") {
		t.Errorf("without its profiles: %v", err)
	}
	if err := os.Rename(root.Path("away"), profiles); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(f); err != nil {
		t.Fatal(err)
	}
}
