package check

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// profiled adds profiles to the made-up run's first condition: a contended
// lock, the profiler's own waiting, and live memory.
func profiled(f *results.File) {
	f.Trials[0].Profiles = []profiles.Profile{
		{Kind: "block", Unit: "s", Total: 3, Events: 31, Stacks: 2, DurationS: 1,
			Work:     map[string]float64{"lock": 0.333333333, "profiler": 0.666666667},
			Packages: map[string]float64{"sync": 0.333333333, "net/http/pprof": 0.666666667}},
		{Kind: "heap", Unit: "B", Total: 4096, Events: 2, Stacks: 1, Work: map[string]float64{"handler": 1},
			Packages: map[string]float64{"encoding/json": 1}},
	}
	f.Conditions[0].Profiles = []results.RawProfile{
		{Kind: "block", File: "made-up/20260102t030405z-h/c1-block.pb.gz", SHA256: digest, Trials: 1},
		{Kind: "heap", File: "made-up/20260102t030405z-h/c1-heap.pb.gz", SHA256: digest, Trials: 1},
	}
}

func TestCheckOfProfiles(t *testing.T) {
	block := func(f *results.File) *profiles.Profile { return &f.Trials[0].Profiles[0] }
	heap := func(f *results.File) *profiles.Profile { return &f.Trials[0].Profiles[1] }
	raw := func(f *results.File) *results.RawProfile { return &f.Conditions[0].Profiles[0] }
	for _, c := range []struct {
		name string
		set  func(*results.File)
		says string // empty: accepted
	}{
		{"as it should be", func(*results.File) {}, ""},
		{"nothing was contended", func(f *results.File) {
			*block(f) = profiles.Profile{Kind: "mutex", Unit: "s", DurationS: 1, Packages: map[string]float64{}}
			*raw(f) = results.RawProfile{Kind: "mutex", File: "made-up/20260102t030405z-h/c1-mutex.pb.gz", SHA256: digest,
				Trials: 1}
		}, ""},
		{"an invalid trial too", func(f *results.File) { f.Trials[1].Profiles = f.Trials[0].Profiles[:1] }, ""},

		{"a kind twice in a trial", func(f *results.File) { heap(f).Kind = "block" },
			`/trials/0/profiles/1/kind: "block" stands twice`},
		{"a kind twice in a condition", func(f *results.File) { f.Conditions[0].Profiles[1] = *raw(f) },
			`/conditions/0/profiles/1/kind: "block" stands twice`},
		{"another kind of work", func(f *results.File) { block(f).Work = map[string]float64{"locks": 1} },
			"/trials/0/profiles/0/work/locks: no such kind of work"},
		{"a share beyond all", func(f *results.File) { block(f).Packages["sync"] = 1.00001 },
			"/trials/0/profiles/0/packages/sync: 1.00001 is not a share"},
		{"a share below none", func(f *results.File) { block(f).Work["lock"] = -0.1 },
			"/trials/0/profiles/0/work/lock: -0.1 is not a share"},
		{"work counted twice", func(f *results.File) { block(f).Work["lock"] = 0.5 },
			"/trials/0/profiles/0/work: the shares sum to 1.16"},
		{"work left out", func(f *results.File) { delete(block(f).Work, "profiler") },
			"/trials/0/profiles/0/work: the shares sum to 0.33"},
		{"no work at all", func(f *results.File) { heap(f).Work = nil }, "/trials/0/profiles/1/work: the shares sum to 0"},
		{"packages left out", func(f *results.File) { heap(f).Packages = map[string]float64{} },
			"/trials/0/profiles/1/packages: empty"},
		{"shares of nothing", func(f *results.File) { block(f).Total = 0 },
			"/trials/0/profiles/0/total: 0, but there are shares"},
		{"a window without a length", func(f *results.File) { block(f).DurationS = 0 },
			"/trials/0/profiles/0/duration_s: missing"},
		{"a moment with a length", func(f *results.File) { heap(f).DurationS = 1 },
			"/trials/0/profiles/1/duration_s: a heap profile is of one moment"},

		{"of another run", func(f *results.File) { raw(f).File = "made-up/s/c1-block.pb.gz" },
			`/conditions/0/profiles/0/file: "made-up/s/c1-block.pb.gz", but it lies in made-up/20260102t030405z-h and is named c1-block.pb.gz`},
		{"of another condition", func(f *results.File) { raw(f).File = "made-up/20260102t030405z-h/c2-block.pb.gz" },
			"/conditions/0/profiles/0/file: "},
		{"of another kind", func(f *results.File) { raw(f).File = "made-up/20260102t030405z-h/c1-cpu.pb.gz" },
			"/conditions/0/profiles/0/file: "},
		{"outside data/profiles", func(f *results.File) {
			f.Conditions[0].ID, f.Trials[0].Condition = "../../c1", "../../c1"
			raw(f).File = "c1-block.pb.gz"
		}, "/conditions/0/profiles/0/file: "},
		{"fewer trials than it holds", func(f *results.File) { raw(f).Trials = 2 },
			`/conditions/0/profiles/0/trials: 2, but 1 valid trials of "c1" have a block profile`},
		{"raw, of no trial", func(f *results.File) { f.Trials[0].Profiles = f.Trials[0].Profiles[1:] },
			"/conditions/0/profiles/0/trials: 1, but 0 valid trials"},
		{"measured, without raw files", func(f *results.File) { f.Conditions[0].Profiles = f.Conditions[0].Profiles[:1] },
			"/conditions/0/profiles: no heap profile, though 1 valid trials have one"},
	} {
		f := made(t)
		profiled(f)
		c.set(f)
		x := design(t)
		x.Profile = &experiment.Profile{}
		err := File(f, x)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestOnlyAnExperimentThatProfilesHasProfiles(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*results.File)
		says string
	}{
		{"of a trial", func(*results.File) {}, "/trials/0/profiles/0: made-up profiles nothing"},
		{"of a condition", func(f *results.File) { f.Trials[0].Profiles = nil },
			"/conditions/0/profiles/0: made-up profiles nothing"},
	} {
		f := made(t)
		profiled(f)
		c.set(f)
		err := File(f, design(t))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
