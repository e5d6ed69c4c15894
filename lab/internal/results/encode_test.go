package results_test

import (
	"math"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A figure is exact, and its cell is empty where it was not measured. Lists of a trial are no columns.
func TestARunAsCSV(t *testing.T) {
	f := &results.File{
		Conditions: []results.Condition{
			{ID: "c1", Levels: setting.Levels{setting.Workers: setting.Int(2), setting.Route: setting.String("/a,b")},
				Profiles: []results.RawProfile{{Kind: "cpu", File: "x/r/c1-cpu.pb.gz", Trials: 1}}},
			{ID: "c2", Levels: setting.Levels{setting.Prefork: setting.Bool(false)}},
			{ID: "c3", Levels: setting.Levels{setting.Workers: setting.Int(2)}, ControlOf: "c1"},
		},
		Trials: []results.Trial{
			{Seq: 1, Block: 1, Condition: "c2", Valid: true, Bound: "unknown", BoundWhy: `the "client", unseen`,
				Metrics: map[string]float64{"b_s": 1.62e-6, "a": 0}, Profiles: []profile.Profile{{Kind: "cpu", Unit: "s", Total: 1,
					Work: map[string]float64{"write": 1}, Packages: map[string]float64{"net": 1}}}},
			{Seq: 2, Block: 1, Condition: "c1", Bound: "wire", BoundWhy: "=1+1",
				Reasons: []results.Reason{{Gate: "speed", Detail: "slow"}, {Gate: "errors", Detail: "2,\nor 3"}},
				Metrics: map[string]float64{"a": -1e21}, Below: map[string]float64{"b_s": 1e-9}},
			{Seq: 3, Block: 2, Condition: "c3", Valid: true, Bound: "wire",
				Metrics: map[string]float64{"b_s": 1322291}},
		},
	}
	want := `seq,block,condition,control_of,level_prefork,level_route,level_workers,valid,reasons,bound,bound_why,a,b_s,below_b_s
1,1,c2,,false,,,true,,unknown,"the ""client"", unseen",0,0.00000162,
2,1,c1,,,"/a,b",2,false,"speed: slow; errors: 2,
or 3",wire,'=1+1,-1e+21,,1e-9
3,2,c3,c1,,,2,true,,wire,,,1322291,
`
	if got, err := f.Sheet(); err != nil || string(got) != want {
		t.Errorf("%s, %v\nwant\n%s", got, err, want)
	}
	f.Trials[0].Metrics["a"] = math.NaN()
	if _, err := f.Sheet(); err == nil {
		t.Error("what is no figure was written")
	}
}
