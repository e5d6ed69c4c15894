package pages

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/medians"
	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestAConditionSaysWhatItsProfilesCameTo(t *testing.T) {
	x := sample.ProfileDesign(t, sample.ATenth)
	run := sample.Shares(x, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2)
	run.Conditions[0].Profiles = []results.RawProfile{{Kind: profile.CPU, File: "made-up/r/c1-cpu.pb.gz", SHA256: "5a", Trials: 6}}
	for i := range run.Trials {
		cpu := &run.Trials[i].Profiles[0]
		cpu.Work = map[string]float64{"write": 0.5, "http": 0.3, "gc": 0.1, "lock": 0.1}
	}
	f := verdict.Decide(x, sample.Machine, []verdict.Run{{File: run, Then: x}})
	Fill(f, x)
	got := f.Conditions[slices.IndexFunc(f.Conditions, func(s medians.Summary) bool { return s.ID == "c1" })].Profiles
	if cpu := got[0]; cpu.Shares["work lock"] != "10 %" {
		t.Errorf("%+v", cpu)
	}
	if want := (medians.RawFile{File: "made-up/r/c1-cpu.pb.gz", SHA256: "5a", Trials: 6}); *got[0].Raw != want {
		t.Errorf("%+v, want %+v", *got[0].Raw, want)
	}
	if block := got[1]; block.Shares[sample.Lock] != "20 %" || block.Shares["runtime"] != "100 %" {
		t.Errorf("%+v", block)
	}
}

func TestATableOfWorkHasTheLargestShareFirst(t *testing.T) {
	shown := func(id string, total float64, raw *medians.RawFile, work map[string]float64) medians.Summary {
		p := profile.Profile{Kind: profile.CPU, Unit: "s", Total: total, DurationS: 2, Work: work}
		return medians.Summary{ID: id, Levels: setting.Levels{"index": setting.String(id)},
			Profiles: []medians.Profiled{{Profile: p, Raw: raw}}}
	}
	f := &verdict.File{Conditions: []medians.Summary{
		shown("c1", 3, &medians.RawFile{}, map[string]float64{"write": 0.6, "gc": 0.4}),
		shown("c2", 0.1, &medians.RawFile{}, map[string]float64{"write": 0.1, "http": 0.9}),
		shown("c3", 100, nil, map[string]float64{"read": 1}), // without a file, so in no table
	}}
	tabulate(f, "index")
	want := map[profile.Kind]medians.WorkTable{profile.CPU: {Unit: "s/s",
		Rows: []medians.WorkRow{{Work: "http", Label: "HTTP"}, {Work: "write", Label: "Writing"},
			{Work: "gc", Label: "Garbage collection"}}}}
	if !reflect.DeepEqual(f.WorkTables, want) {
		t.Errorf("%+v, want %+v", f.WorkTables, want)
	}
	for i, want := range [][]string{{"none", "60.0", "40.0", "1.500"}, {"90.0", "10.0", "none", "0.050"}, nil} {
		if got := f.Conditions[i].Profiles[0].Cells; !slices.Equal(got, want) {
			t.Errorf("cells of %s are %q, want %q", f.Conditions[i].ID, got, want)
		}
	}
	if f.Conditions[0].Words != "Index c1" || f.Conditions[2].Words != "" {
		t.Errorf("%q and %q", f.Conditions[0].Words, f.Conditions[2].Words)
	}
}

func TestOnlyRunsWithProfilesThatNoNewerOneHasAreShown(t *testing.T) {
	day := 0
	run := func(name, host string, kinds map[profile.Kind][]string) Made {
		day++
		f := &verdict.File{Run: name, Host: host, Started: fmt.Sprintf("2026-01-%02d", day)}
		for kind, levels := range kinds {
			for _, l := range levels {
				f.Conditions = append(f.Conditions, medians.Summary{
					Levels:   setting.Levels{"index": setting.String(l)},
					Profiles: []medians.Profiled{{Profile: profile.Profile{Kind: kind}, Raw: &medians.RawFile{}}},
				})
			}
		}
		return Made{File: f}
	}
	type has = map[profile.Kind][]string
	got := withProfiles([]Made{
		run("replaced", "a", has{profile.CPU: {"pool", "gofakeit"}}),
		run("both", "a", has{profile.CPU: {"pool", "gofakeit"}, profile.Block: {"pool"}}),
		run("other host", "b", has{profile.CPU: {"pool"}}),
		run("block", "a", has{profile.Block: {"pool", "gofakeit"}}),
		run("one", "a", has{profile.CPU: {"pool"}}),
		run("none", "a", nil),
	}, "")
	if want := []string{"one", "block", "other host", "both"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
