package derive

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func drawn(t *testing.T, root journal.Root) []string {
	t.Helper()
	all, err := filepath.Glob(root.Flame("98-made-lock", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		all[i] = strings.TrimSuffix(filepath.Base(p), ".json")
	}
	return all
}

func TestProfilesAreDrawn(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	updated(t, root)
	want := []string{
		"c1-block", "c1-c3-block", "c1-c3-heap", "c1-c3-mutex", "c1-heap", "c1-mutex",
		"c2-block", "c2-c4-block", "c2-c4-heap", "c2-c4-mutex", "c2-heap", "c2-mutex",
		"c3-block", "c3-heap", "c3-mutex", "c4-block", "c4-heap", "c4-mutex",
	}
	if got := drawn(t, root); !slices.Equal(got, want) {
		t.Errorf("drawn are %q, want %q", got, want)
	}

	var tree profiles.Tree
	decodeFlame(t, root, "c1-block", &tree)
	if tree.Name != "A lock in each request: block profile, route=/list index=gofakeit" {
		t.Errorf("the tree is called %q", tree.Name)
	}
	// Two trials of three seconds, with nine seconds blocked in each, three of them
	// in taking the profiles.
	if tree.Kind != "block" || tree.Condition != "c1" || tree.Trials != 2 || tree.Raw != archivetest.LockRun+
		"/c1-block.pb.gz" ||
		tree.Total != 12 || tree.Profiler != 6 || tree.DurationS != 6 || tree.Over != 6 || tree.Parked != 2 ||
		tree.Least != 0.005 || tree.SchemaVersion != 1 {
		t.Errorf("the tree is %+v", tree)
	}
	if w := tree.Words; w.Condition != "Index gofakeit, route /list" ||
		w.Total != "2 s a second of time blocked, so 2 goroutines parked on average" ||
		w.Over != "over 6\u00a0s in all, 2 trials" || w.Profiler != "1 s a second" {
		t.Errorf("the tree is told as %+v", w)
	}
	if want := []profiles.WorkShare{{Work: "lock", Share: 1}}; !slices.Equal(tree.Work, want) {
		t.Errorf("work is %v, want %v", tree.Work, want)
	}
	tree = profiles.Tree{}
	decodeFlame(t, root, "c3-block", &tree)
	if tree.Total != 0 || tree.Profiler != 6 || tree.Over != 6 || len(tree.Top) != 0 {
		t.Errorf("where only the profiler waited: %+v", tree)
	}
	tree = profiles.Tree{}
	decodeFlame(t, root, "c3-mutex", &tree)
	if tree.Total != 0 || tree.Depth != 1 || len(tree.Work) != 0 || tree.Parked != 0 {
		t.Errorf("where nothing was contended: %+v", tree)
	}
	tree = profiles.Tree{}
	decodeFlame(t, root, "c1-heap", &tree)
	if tree.DurationS != 0 || tree.Over != 2 || tree.Parked != 0 || tree.Profiler != 0 || tree.Total != 2<<20 {
		t.Errorf("heap, of two moments: %+v", tree)
	}

	var d profiles.DiffTree
	decodeFlame(t, root, "c2-c4-block", &d)
	if d.Kind != "block" || d.Before != "c2" || d.After != "c4" || d.Unit != "s/s" || d.TotalBefore != 2 ||
		d.TotalAfter != 0 || d.Root.Difference != -2 {
		t.Errorf("the difference is %+v", d)
	}
	if w := d.Words; w.Before != "2 s a second" || w.After != "0 s a second" || d.Least != 0.01 || len(w.Sides) != 2 ||
		w.Sides[0].Self[0] != "2.000" || d.Root.Change != "−100 %" {
		t.Errorf("the difference is told as %+v, folded below %v", w, d.Least)
	}
	if d.Name != "A lock in each request: block profile, route=/read index=gofakeit, then route=/read index=pool" {
		t.Errorf("the difference is called %q", d.Name)
	}
	d = profiles.DiffTree{}
	decodeFlame(t, root, "c1-c3-heap", &d)
	if d.Unit != "B" || d.TotalBefore != 1<<20 || d.TotalAfter != 1<<20+1<<19 {
		t.Errorf("the difference of moments is %+v", d)
	}
}

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

func decodeFlame(t *testing.T, root journal.Root, name string, into any) {
	t.Helper()
	text := archivetest.Read(t, root.Derived("data/flames", archivetest.LockRun, name+".json"))
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func TestOnlyWhatIsComparedHasADifference(t *testing.T) {
	root := archivetest.ProfiledClone(t)
	archivetest.Redesign(t, root, "compare = \"index\"\n", "")
	updated(t, root)
	for _, name := range drawn(t, root) {
		if strings.Count(name, "-") > 1 {
			t.Errorf("%s was made, though nothing is compared", name)
		}
	}
}

func TestPairsDifferInNothingElse(t *testing.T) {
	x, err := experiment.Parse("98-made-lock", []byte(archivetest.LockDesign))
	if err != nil {
		t.Fatal(err)
	}
	at := func(id, controlOf, index, route string) results.Condition {
		return results.Condition{ID: id, ControlOf: controlOf,
			Levels: setting.Levels{"index": setting.String(index), "route": setting.String(route)}}
	}
	f := &results.File{Conditions: []results.Condition{
		at("c1", "", "gofakeit", "/list"), at("c2", "", "gofakeit", "/read"), at("c3", "", "pool", "/list"),
		at("c4", "", "pool", "/read"),
		at("c5", "c1", "gofakeit", "/list"), // the A/A control is in no pair
	}}
	ids := func() (out []string) {
		for _, p := range pairs(x, f) {
			out = append(out, p[0].ID+"-"+p[1].ID)
		}
		return out
	}
	if got, want := ids(), []string{"c1-c3", "c2-c4"}; !slices.Equal(got, want) {
		t.Errorf("pairs %q, want %q", got, want)
	}
	x.Profile.Compare = "route"
	if got, want := ids(), []string{"c1-c2", "c3-c4"}; !slices.Equal(got, want) {
		t.Errorf("pairs over the route %q, want %q", got, want)
	}
	for _, none := range []string{"", "workers"} {
		x.Profile.Compare = none
		if got := ids(); len(got) > 0 {
			t.Errorf("pairs over %q: %q", none, got)
		}
	}
}
