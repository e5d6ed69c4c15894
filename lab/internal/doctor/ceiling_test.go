package doctor

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func ceilingRun(run, host string, b bound.Bound, rps ...float64) *results.File {
	levels := setting.Levels{setting.Generator: setting.String("fortio"), setting.Route: setting.String("/read")}
	r := &results.File{
		Experiment: ceilingExperiment, Run: run, Source: results.Measured, Hosts: results.Hosts{Client: host},
		Conditions: []results.Condition{{ID: "c1", Levels: levels}, {ID: "c2", Levels: levels, ControlOf: "c1"}},
	}
	for _, v := range rps {
		r.Trials = append(r.Trials, results.Trial{Condition: "c1", Valid: true, Bound: b, Metrics: map[string]float64{"throughput_rps": v}})
	}
	return r
}

func TestCeilingIsTheNewestOfThisMachineWithTheClientAsTheWall(t *testing.T) {
	older := ceilingRun("20260101t000000z-me", "me", bound.ClientCPU, 5)
	newer := ceilingRun("20260202t000000z-me", "me", bound.ClientCPU, 10, 30, 20)
	newer.Trials = append(newer.Trials,
		results.Trial{Condition: "c1", Bound: bound.ClientCPU, Metrics: map[string]float64{"throughput_rps": 1e9}},
		results.Trial{Condition: "c1", Valid: true, Bound: bound.ServerCPU, Metrics: map[string]float64{"throughput_rps": 1e9}})
	other := ceilingRun("20260303t000000z-you", "you", bound.ClientCPU, 99)
	f := Machine{Host: "me", Runs: []*results.File{newer, other, older}}.ceiling()
	if f.Level != Good || !strings.Contains(f.Seen, "fortio 20/s on /read (20260202)") || strings.Count(f.Seen, "fortio") != 1 {
		t.Errorf("%+v", f)
	}
}

func TestNoCeilingSaysHowToFindOne(t *testing.T) {
	for name, runs := range map[string][]*results.File{
		"no run": nil, "another machine's": {ceilingRun("20260101t000000z-you", "you", bound.ClientCPU, 5)},
		"the client never was the wall": {ceilingRun("20260101t000000z-me", "me", bound.Unknown, 5)},
	} {
		if f := (Machine{Host: "me", Runs: runs}).ceiling(); f.Level != Good || !strings.Contains(f.Seen, "not known yet (.tools/bin/lab run "+ceilingExperiment+")") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
