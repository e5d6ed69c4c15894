package derive

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
)

func TestPagesAreToldWhereARunsProfilesAre(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	updated(t, root)
	_, run := filepath.Split(archivetest.LockRun)
	if text := archivetest.Read(t, root.Derived("data/claims/98-made-lock.json")); !strings.Contains(text,
		"\"profiled\": [\n    \""+run+"\"\n  ]") {
		t.Errorf("%s is not among the runs with profiles:\n%s", run, text)
	}
}
