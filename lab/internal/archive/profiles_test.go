package archive

import (
	"os"
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
