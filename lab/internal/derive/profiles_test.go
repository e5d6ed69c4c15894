package derive

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
)

func TestPagesAreToldWhereARunsProfilesAre(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	updated(t, root)
	var of struct {
		Conditions []struct {
			Profiles []struct {
				Kind string
				Raw  struct{ File, Size string }
			}
		}
	}
	if err := json.Unmarshal([]byte(archivetest.Read(t, root.Derived("pages/runs", archivetest.LockRun+".json"))),
		&of); err != nil {
		t.Fatal(err)
	}
	for _, c := range of.Conditions {
		for _, p := range c.Profiles {
			raw, err := os.Stat(root.Profile(p.Raw.File))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d B", raw.Size()); p.Raw.Size != want || raw.Size() > 999 {
				t.Errorf("%s is said to have %s, not %s", p.Raw.File, p.Raw.Size, want)
			}
		}
	}
	if len(of.Conditions) == 0 || len(of.Conditions[0].Profiles) != 3 {
		t.Errorf("%+v", of)
	}
	_, run := filepath.Split(archivetest.LockRun)
	if text := archivetest.Read(t, root.Derived("data/claims/98-made-lock.json")); !strings.Contains(text,
		"\"profiled\": [\n    \""+run+"\"\n  ]") {
		t.Errorf("%s is not among the runs with profiles:\n%s", run, text)
	}
}
