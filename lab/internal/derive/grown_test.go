package derive

import (
	"os"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/audit"
)

// One new file of each kind is read, checked and derived from, and what was
// derived from older runs stays as it was.
func TestAJournalMayGrow(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	before := tree(t, root)
	archivetest.Grow(t, root)
	j := open(t, root)
	updated(t, root)
	for _, path := range []string{
		root.Verdict("11-threads", "20260102t030405z-"+archivetest.NewHost) + ".gz",
		root.Sheet("11-threads", "20260102t030405z-"+archivetest.NewHost) + ".gz",
		root.Hosts(archivetest.NewExperiment), root.Audit(archivetest.NewEntry),
	} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(archivetest.Read(t, root.Ledger()), archivetest.NewExperiment) {
		t.Error("the ledger lacks the new experiment")
	}
	for _, a := range j.Audits {
		if a.Entry == archivetest.NewEntry && (len(a.Findings) != 2 || a.Findings[0].Verdict != audit.Disagrees ||
			a.Findings[1].Verdict != audit.Agrees || a.Claims[0].Verdict != "refuted") {
			t.Errorf("%+v", a)
		}
	}
	after := tree(t, root)
	for path, was := range before {
		older := !strings.HasPrefix(path, "derived/inputs/") && !strings.HasPrefix(path, "derived/data/claims/") &&
			!strings.HasPrefix(path, "derived/data/ledger") && !strings.HasPrefix(path, "derived/pages/ra") &&
			!strings.HasPrefix(path, "derived/pages/re") && !strings.HasPrefix(path, "derived/pages/score")
		if older && after[path] != was {
			t.Errorf("%s was written again", path)
		}
	}
}
