package results

import (
	"math"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/profiles"
)

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// profiled adds profiles to the made-up run's first condition: a contended
// lock, the profiler's own waiting, and live memory.
func profiled(f *File) {
	f.Trials[0].Profiles = []profiles.Profile{
		{Kind: "block", Unit: "s", Total: 3, Events: 31, Stacks: 2, DurationS: 1,
			Work:     map[string]float64{"lock": 0.333333333, "profiler": 0.666666667},
			Packages: map[string]float64{"sync": 0.333333333, "net/http/pprof": 0.666666667}},
		{Kind: "heap", Unit: "B", Total: 4096, Events: 2, Stacks: 1, Work: map[string]float64{"handler": 1},
			Packages: map[string]float64{"encoding/json": 1}},
	}
	f.Conditions[0].Profiles = []RawProfile{
		{Kind: "block", File: "made-up/20260102t030405z-h/c1-block.pb.gz", SHA256: digest, Trials: 1},
		{Kind: "heap", File: "made-up/20260102t030405z-h/c1-heap.pb.gz", SHA256: digest, Trials: 1},
	}
}

func TestCheckOfProfiles(t *testing.T) {
	block := func(f *File) *profiles.Profile { return &f.Trials[0].Profiles[0] }
	heap := func(f *File) *profiles.Profile { return &f.Trials[0].Profiles[1] }
	raw := func(f *File) *RawProfile { return &f.Conditions[0].Profiles[0] }
	for _, c := range []struct {
		name string
		set  func(*File)
		says string // empty: accepted
	}{
		{"as it should be", func(*File) {}, ""},
		{"nothing was contended", func(f *File) {
			*block(f) = profiles.Profile{Kind: "mutex", Unit: "s", DurationS: 1, Packages: map[string]float64{}}
			*raw(f) = RawProfile{Kind: "mutex", File: "made-up/20260102t030405z-h/c1-mutex.pb.gz", SHA256: digest, Trials: 1}
		}, ""},
		{"an invalid trial too", func(f *File) { f.Trials[1].Profiles = f.Trials[0].Profiles[:1] }, ""},

		{"a kind twice in a trial", func(f *File) { heap(f).Kind = "block" },
			`/trials/0/profiles/1/kind: "block" stands twice`},
		{"a kind twice in a condition", func(f *File) { f.Conditions[0].Profiles[1] = *raw(f) },
			`/conditions/0/profiles/1/kind: "block" stands twice`},
		{"another kind of work", func(f *File) { block(f).Work = map[string]float64{"locks": 1} },
			"/trials/0/profiles/0/work/locks: no such kind of work"},
		{"a share beyond all", func(f *File) { block(f).Packages["sync"] = 1.00001 },
			"/trials/0/profiles/0/packages/sync: 1.00001 is not a share"},
		{"a share below none", func(f *File) { block(f).Work["lock"] = -0.1 },
			"/trials/0/profiles/0/work/lock: -0.1 is not a share"},
		{"a share that is none", func(f *File) { block(f).Packages["sync"] = math.NaN() },
			"/trials/0/profiles/0/packages/sync: NaN is not a share"},
		{"work counted twice", func(f *File) { block(f).Work["lock"] = 0.5 },
			"/trials/0/profiles/0/work: the shares sum to 1.16"},
		{"work left out", func(f *File) { delete(block(f).Work, "profiler") },
			"/trials/0/profiles/0/work: the shares sum to 0.33"},
		{"no work at all", func(f *File) { heap(f).Work = nil }, "/trials/0/profiles/1/work: the shares sum to 0"},
		{"packages left out", func(f *File) { heap(f).Packages = map[string]float64{} },
			"/trials/0/profiles/1/packages: empty"},
		{"shares of nothing", func(f *File) { block(f).Total = 0 }, "/trials/0/profiles/0/total: 0, but there are shares"},
		{"an endless total", func(f *File) { block(f).Total = math.Inf(1) },
			"/trials/0/profiles/0/total: +Inf is not a figure"},
		{"another unit", func(f *File) { heap(f).Unit = "s" },
			`/trials/0/profiles/1/unit: "s", but a heap profile is in "B"`},
		{"a window without a length", func(f *File) { block(f).DurationS = 0 }, "/trials/0/profiles/0/duration_s: missing"},
		{"a moment with a length", func(f *File) { heap(f).DurationS = 1 },
			"/trials/0/profiles/1/duration_s: a heap profile is of one moment"},

		{"of another run", func(f *File) { raw(f).File = "made-up/s/c1-block.pb.gz" },
			`/conditions/0/profiles/0/file: "made-up/s/c1-block.pb.gz", but it lies in made-up/20260102t030405z-h and is named c1-block.pb.gz`},
		{"of another condition", func(f *File) { raw(f).File = "made-up/20260102t030405z-h/c2-block.pb.gz" },
			"/conditions/0/profiles/0/file: "},
		{"of another kind", func(f *File) { raw(f).File = "made-up/20260102t030405z-h/c1-cpu.pb.gz" },
			"/conditions/0/profiles/0/file: "},
		{"outside data/profiles", func(f *File) {
			f.Conditions[0].ID, f.Trials[0].Condition = "../../c1", "../../c1"
			raw(f).File = "c1-block.pb.gz"
		}, "/conditions/0/profiles/0/file: "},
		{"fewer trials than it holds", func(f *File) { raw(f).Trials = 2 },
			`/conditions/0/profiles/0/trials: 2, but 1 valid trials of "c1" have a block profile`},
		{"raw, of no trial", func(f *File) { f.Trials[0].Profiles = f.Trials[0].Profiles[1:] },
			"/conditions/0/profiles/0/trials: 1, but 0 valid trials"},
		{"measured, without raw files", func(f *File) { f.Conditions[0].Profiles = f.Conditions[0].Profiles[:1] },
			"/conditions/0/profiles: no heap profile, though 1 valid trials have one"},
	} {
		f, err := decode(t, made)
		if err != nil {
			t.Fatal(err)
		}
		profiled(f)
		c.set(f)
		x := design(t)
		x.Profile = &experiment.Profile{}
		err = f.Check(x)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestOnlyAnExperimentThatProfilesHasProfiles(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*File)
		says string
	}{
		{"of a trial", func(*File) {}, "/trials/0/profiles/0: made-up profiles nothing"},
		{"of a condition", func(f *File) { f.Trials[0].Profiles = nil },
			"/conditions/0/profiles/0: made-up profiles nothing"},
	} {
		f, err := decode(t, made)
		if err != nil {
			t.Fatal(err)
		}
		profiled(f)
		c.set(f)
		err = f.Check(design(t))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestDecodeOfProfiles(t *testing.T) {
	const with = `"at": 1.5, "profiles": [{"kind": "cpu", "total": 0, "packages": {}}],`
	run := strings.Replace(made, `"at": 1.5,`, with, 1)
	f, err := decode(t, run)
	if err != nil {
		t.Fatal(err)
	}
	if p, there := f.Trials[0].Profile("cpu"); !there || p.Unit != "s" {
		t.Errorf("the profile is %+v", p)
	}
	if _, there := f.Trials[0].Profile("heap"); there {
		t.Error("there is a heap profile")
	}
	for _, c := range []struct{ old, new, says string }{
		{`"cpu"`, `"wall"`, "/trials/0/profiles/0/kind: "},
		{`"cpu"`, `"cpu", "unit": "ns"`, "/trials/0/profiles/0/unit: "},
		{`"total": 0`, `"total": -1`, "/trials/0/profiles/0/total: "},
		{`, "packages": {}`, ``, "/trials/0/profiles/0: missing property 'packages'"},
		{`"packages": {}`, `"packages": {}, "symbols": {}`,
			"/trials/0/profiles/0: additional properties 'symbols' not allowed"},
	} {
		_, err := decode(t, strings.Replace(run, with, strings.Replace(with, c.old, c.new, 1), 1))
		if err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
}
