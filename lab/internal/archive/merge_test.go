package archive

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// A contribution only adds files, so two that start from one commit merge without a
// conflict, and what is merged is in order.
func TestTwoMachinesResultsMerge(t *testing.T) {
	r := newRepository(t)
	for n, id := range []string{"one-2c", "two-4c"} {
		r.git("checkout", "-q", "-b", id, "base")
		profile := archivetest.Read(t, r.root.Path(c6in))
		archivetest.Write(t, r.root.Path("data/hosts/"+id+".json"), strings.ReplaceAll(profile, server, id))
		f := r.run(uint64(n + 2))
		f.Hosts = results.Hosts{Server: id, Client: id}
		f.Run = strings.ReplaceAll(f.Run, server, id)
		r.add(f)
		r.commit()
		if faults := r.judged(); len(faults) > 0 {
			t.Fatalf("%s alone: %q", id, faults)
		}
	}
	r.git("merge", "-q", "-m", "both", "one-2c") // a conflict ends it with an error
	if faults := r.judged(); len(faults) > 0 {
		t.Errorf("merged: %q", faults)
	}
	j, _, err := Open(r.root)
	if err != nil || len(j.Runs) != 3 {
		t.Errorf("%d runs, %v", len(j.Runs), err)
	}
}
