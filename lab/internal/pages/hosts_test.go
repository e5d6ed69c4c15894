package pages

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

// A claim was written down before it ran if the commit of its first run with
// trials had it. Runs that could not be made are no runs of it.
func TestWhereAClaimStoodBeforeItRan(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	run := func(name string, change func(*verdict.File)) Made {
		f := &verdict.File{Run: name, Started: name, Trials: 4, Written: "commit-" + name, Design: "design-" + name,
			Claims: []verdict.Claim{{ID: "c"}}}
		change(f)
		return Made{f, x}
	}
	usual := func(*verdict.File) {}
	unwritten := func(f *verdict.File) { f.Written = "" }
	for _, c := range []struct {
		name string
		runs []Made
		want *Written
	}{
		{"no run", nil, nil},
		{"two runs, the first last", []Made{run("2", usual), run("1", usual)}, &Written{"commit-1", "design-1", "1"}},
		{"a first run of a dirty tree", []Made{run("1", unwritten), run("2", usual)}, nil},
		{"a later run of a dirty tree", []Made{run("1", usual), run("2", unwritten)}, &Written{"commit-1", "design-1", "1"}},
		{"a first run that could not be made",
			[]Made{run("1", func(f *verdict.File) { f.Trials, f.Written = 0, "" }), run("2", usual)},
			&Written{"commit-2", "design-2", "2"}},
		{"a run with another claim", []Made{run("1", func(f *verdict.File) { f.Claims[0].ID = "other" }), run("2", usual)},
			&Written{"commit-2", "design-2", "2"}},
	} {
		if got := OverHosts(x, c.runs, nil).Claims[0].Written; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// A run of a dirty tree, or outside a checkout, names no commit that had its
// experiment.
func TestARunSaysWhichCommitHadItsExperiment(t *testing.T) {
	commit := strings.Repeat("12", 20)
	for _, c := range []struct {
		commit string
		dirty  bool
		want   string
	}{{commit, false, commit}, {commit, true, ""}, {host.UnknownCommit, false, ""}, {host.UnknownCommit, true, ""}} {
		x := sample.Design(t, "", sample.IsFlat)
		r := sample.Ratios(x, 1, 1)
		r.Provenance.Commit, r.Provenance.Dirty = c.commit, c.dirty
		if got := verdict.Decide(x, sample.Machine, []verdict.Run{{File: r, Then: x}}).Written; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		r.Trials = nil
		if got := verdict.Decide(x, sample.Machine, []verdict.Run{{File: r, Then: x}}).Written; got != "" {
			t.Errorf("%+v, without trials: %q", c, got)
		}
	}
}

// run is a verdict file as a run leaves it.
func madeBy(x *experiment.Experiment, host, started string, claims ...verdict.Claim) Made {
	return Made{&verdict.File{Host: host, Run: started + "-" + host, Started: started, Claims: claims,
		Conditions: []medians.Summary{{}}}, x}
}

func TestWhichRunsCount(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat, sample.Rename(sample.AtLeast, "later"))
	c := func(v verdict.Verdict) verdict.Claim { return verdict.Claim{ID: "c", Verdict: v} }
	refused := madeBy(x, "b", "9", c(verdict.NotApplicable))
	refused.Conditions = nil
	got := OverHosts(x, []Made{refused, madeBy(x, "a", "4", c(verdict.Refuted)),
		madeBy(x, "a", "3", c(verdict.Open)),
		madeBy(x, "b", "5", c(verdict.Refuted), verdict.Claim{ID: "later", Verdict: verdict.Confirmed})}, nil)
	// The newest run could not be made, and the others have no block, so their names decide.
	if got.Shown != "4-a" {
		t.Errorf("shown: %v", got.Shown)
	}
	if want := []string{"a", "b"}; !slices.Equal(got.Machines, want) {
		t.Errorf("machines: %v", got.Machines)
	}
	sum := got.Claims[0]
	if sum.Says != "refuted on 1 of 2 machines, not applicable on 1" || sum.Own != "4-a" {
		t.Errorf("%+v", sum)
	}
	// A run decides only the claims that it was made with.
	if later := got.Claims[1]; len(later.Hosts) != 1 || later.Hosts[0].Run != "5-b" || later.Own != "5-b" {
		t.Errorf("%+v", later)
	}
}

func TestAWithdrawnClaimIsSaidInItsNewestWords(t *testing.T) {
	old := sample.Design(t, "", strings.Replace(sample.IsFlat, `text = "t"`, `text = "old"`, 1))
	newer := sample.Design(t, "", strings.Replace(sample.IsFlat, `text = "t"`, `text = "newer"`, 1))
	now := sample.Design(t, "", sample.Rename(sample.AtLeast, "d"))
	now.Withdrawn = []experiment.Withdrawal{{ID: "never-run", Why: "No use."}, {ID: "worded", Text: "It was so.", Why: "No run is left."}, {ID: "c", Why: "Too wide."}}
	of := func(x *experiment.Experiment, started string) Made {
		m := madeBy(x, "h", started)
		m.Date = "day " + started
		return m
	}
	got := OverHosts(now, []Made{of(old, "1"), of(newer, "3"), of(newer, "2")}, nil).Withdrawn
	want := []Gone{{"never-run", "never-run", "No use.", ""}, {"worded", "It was so.", "No run is left.", ""},
		{"c", "newer", "Too wide.", "day 3"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestTheLedgerHasALineForEachClaimAndMachine(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat, sample.Rename(sample.AtLeast, "d"))
	x.Claims[1].Owner = experiment.Series
	l := NewLedger()
	l.Add(x, OverHosts(x, []Made{{file("b", verdict.Refuted, 1, 0.9, 0), x},
		{file("a", verdict.Confirmed, 2, 1.9, 2.1), x}}, nil))
	got, err := l.CSV()
	if err != nil {
		t.Fatal(err)
	}
	const want = `entry,experiment,claim,kind,whose,text,host,run,verdict,blocks,for,against,ratio,low,high
7,made-up,c,flat,journal,t,a,run-a,confirmed,9,8,1,2,1.9,2.1
7,made-up,c,flat,journal,t,b,run-b,refuted,9,8,1,1,0.9,
7,made-up,d,ratio,series,t,,,,,,,,,
`
	if string(got) != want {
		t.Errorf("%s", got)
	}
	if c := l.Claims[0]; c.Says != "confirmed on 1 of 2 machines, refuted on 1" || len(c.Machines) != 2 ||
		len(l.Claims[1].Machines) != 0 {
		t.Errorf("%+v", c)
	}
}
