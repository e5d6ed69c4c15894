package doctor

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func ceilingRun(run, host string, b gate.Bound, rps ...float64) *results.File {
	levels := setting.Levels{setting.Generator: setting.String("fortio"), setting.Route: setting.String("/read")}
	r := &results.File{
		Experiment: ceilingExperiment, Run: run, Source: results.Measured, Hosts: results.Hosts{Client: host},
		Conditions: []results.Condition{{ID: "c1", Levels: levels}, {ID: "c2", Levels: levels, ControlOf: "c1"}},
	}
	for _, v := range rps {
		r.Trials = append(r.Trials, ceilingTrial(b, v))
	}
	return r
}

// ceilingTrial is a trial that met the given walls.
func ceilingTrial(b gate.Bound, rps float64) results.Trial {
	m := map[string]float64{"throughput_rps": rps, "client_thread_busy_max": 0.5, "client_cores_busy": 0.5, "server_cores_busy": 0.5}
	if strings.Contains(string(b), string(gate.BoundClientCPU)) {
		m["client_thread_busy_max"] = 1
	}
	if strings.Contains(string(b), string(gate.BoundServerCPU)) {
		m["server_cores_busy"] = 1
	}
	return results.Trial{Condition: "c1", Valid: true, Bound: b, Metrics: m}
}

func TestCeilingIsTheNewestOfThisMachineWithTheClientAsTheWall(t *testing.T) {
	older := ceilingRun("20260101t000000z-me", "me", gate.BoundClientCPU, 5)
	newer := ceilingRun("20260202t000000z-me", "me", gate.BoundClientCPU, 10, 30, 20)
	invalid, both := ceilingTrial(gate.BoundClientCPU, 1e9), ceilingTrial("client-cpu+server-cpu", 1e9)
	invalid.Valid = false
	both.Bound = gate.BoundClientCPU // as early files name it
	newer.Trials = append(newer.Trials, invalid, both, ceilingTrial(gate.BoundServerCPU, 1e9))
	other := ceilingRun("20260303t000000z-you", "you", gate.BoundClientCPU, 99)
	f := Machine{Hosts: []string{"new-name", "me"}, Runs: []*results.File{newer, other, older}}.ceiling()
	if f.Level != Good || !strings.Contains(f.Seen, "fortio 20/s on /read (20260202)") || strings.Count(f.Seen, "fortio") != 1 {
		t.Errorf("%+v", f)
	}
}

func TestNoCeilingSaysHowToFindOne(t *testing.T) {
	for name, runs := range map[string][]*results.File{
		"no run": nil, "another machine's": {ceilingRun("20260101t000000z-you", "you", gate.BoundClientCPU, 5)},
		"the client never was the wall": {ceilingRun("20260101t000000z-me", "me", gate.BoundUnknown, 5)},
	} {
		if f := (Machine{Hosts: []string{"new-name", "me"}, Runs: runs}).ceiling(); f.Level != Good || !strings.Contains(f.Seen, "not known yet (.tools/bin/lab run "+ceilingExperiment+")") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
