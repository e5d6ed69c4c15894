package results

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A valid trial whose figures close a gate is reported with trial, figure and
// gate. A missing figure is no fault.
func TestCheckHoldsRecordedFiguresAgainstTheGates(t *testing.T) {
	for _, c := range []struct {
		metric string
		v      float64
		gate   string // empty: accepted
	}{
		{"non_2xx", 5000, gate.Non2xx}, {"non_2xx", 0, ""},
		{"errors", 1, gate.Errors}, {"timeouts", 1, gate.Timeouts}, {"resets", 1, gate.Resets},
		{"requests", 0, gate.NoRequests},
		{"workers", 0, gate.LostWorker}, {"workers_active", 0, gate.IdleWorker}, {"workers_serving", 0, gate.IdleWorker},
		{"connections_established", 99, gate.Connections}, {"connections_established", 100, ""},
		{"latency_mean_s", 0.2, gate.Little}, {"latency_mean_least_s", 0.2, gate.Little},
		{"latency_mean_least_s", 0.0995, ""},
		{"profile_spread_s", 0.06, gate.ProfileApart},
		{"calibration_before_s", 2e-6, gate.SlowCore}, {"calibration_after_s", 2e-6, gate.SlowCore},
		{"calibration_after_s", 1.2e-6, ""},
		{"server_foreign_load", 0.11, gate.OtherLoad}, {"client_foreign_load", 0.11, gate.OtherLoad},
		{"server_steal", 0.04, gate.Steal}, {"client_steal", 0.04, gate.Steal}, {"client_steal", 0.03, ""},
		{"throttled_s", 0.1, gate.Throttled}, {"swap_pages", 1, gate.Swap}, {"clock_step_s", 0.02, gate.Clock},
		{"duration_s", 4.41, gate.Window}, {"duration_s", 4.39, ""},
	} {
		f, err := decode(t, made)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		f.Provenance.CalibrationS, f.Trials[0].StartedAt = 1e-6, at
		f.Trials[0].Metrics["calibration_before_s"], f.Trials[0].Metrics["calibration_after_s"] = 1e-6, 1e-6
		f.Trials[0].Metrics[c.metric] = c.v
		err = f.checkGates(design(t))
		want := fmt.Sprintf("/trials/0/metrics/%s: ", c.metric)
		switch {
		case c.gate == "" && err != nil:
			t.Errorf("%s of %v: %v", c.metric, c.v, err)
		case c.gate != "" && (err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "the gate "+c.gate+" makes")):
			t.Errorf("%s of %v: %v, want %s by %s", c.metric, c.v, err, want, c.gate)
		}
		// The same figure is the evidence of the reason that names its gate, and of no other.
		for _, name := range []string{gate.Steal, gate.OtherLoad, c.gate} {
			f.Trials[0].Valid, f.Trials[0].Reasons = false, []Reason{{Gate: name, Detail: "x"}}
			if err := f.checkGates(design(t)); name != "" && (err == nil) != (name == c.gate) {
				t.Errorf("called invalid by %s, %s of %v: %v", name, c.metric, c.v, err)
			}
		}
	}
}

// One changed figure in a committed run is found.
func TestAPlantedFigureIsFound(t *testing.T) {
	for _, p := range committed(t, "results", "10-workers", "*.json") {
		f, err := Read(p)
		if err != nil {
			t.Fatal(err)
		}
		x := madeWith(t, f)
		for i, trial := range f.Trials {
			if trial.Valid {
				trial.Metrics["non_2xx"] = 5000
				if err := f.Check(x); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("/trials/%d/metrics/non_2xx", i)) {
					t.Errorf("%s: %v", p, err)
				}
				break
			}
		}
	}
}

func TestWhatATrialWasAskedFor(t *testing.T) {
	x := design(t)
	claimed := []string{"throughput_rps"}
	for _, c := range []struct {
		levels setting.Levels
		want   gate.Asked
	}{
		{setting.Levels{"connections": setting.Int(50), "pipelining": setting.Int(4), "workers": setting.Int(3),
			"prefork": setting.Bool(true)},
			gate.Asked{Generator: "autocannon", Connections: 50, Pipelining: 4, Workers: 3, WindowS: 2, ResolutionS: 0.001,
				Claimed: claimed}},
		// By default there is one worker on each of the server's cores.
		{setting.Levels{"connections": setting.Int(50), "generator": setting.String("fortio"), "rate": setting.Int(900),
			"overload": setting.Bool(true)},
			gate.Asked{Generator: "fortio", Connections: 50, Pipelining: 1, Rate: 900, Overload: true, Workers: 5, WindowS: 2,
				Claimed: claimed}},
		{setting.Levels{"connections": setting.Int(9), "generator": setting.String("fortio"), "prefork": setting.Bool(false),
			"workers": setting.Int(3)},
			gate.Asked{Generator: "fortio", Connections: 9, Pipelining: 1, WindowS: 2, Claimed: claimed}},
		{setting.Levels{"connections": setting.Int(9), "generator": setting.String("fortio"),
			"server": setting.String("null")},
			gate.Asked{Generator: "fortio", Connections: 9, Pipelining: 1, WindowS: 2, Claimed: claimed}},
		{setting.Levels{"generator": setting.String("sink"), "server": setting.String("producer"),
			"sink_errors_permille": setting.Int(5)},
			gate.Asked{Generator: "sink", Pipelining: 1, Refuses: true, WindowS: 2, Claimed: claimed}},
	} {
		if got := Asked(x, c.levels, 5, 2); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%v:\n%+v, want\n%+v", c.levels, got, c.want)
		}
	}
	turns := setting.Levels{"generator": setting.String("http_load"), "connections": setting.Int(9),
		"prefork": setting.Bool(false)}
	want := gate.Asked{Generator: "http_load", Connections: 9, Pipelining: 1, WindowS: 0.6, SlotS: 0.1, Rounds: 6,
		Claimed: []string{"server_cpu_per_request_s"}}
	if got := Asked(turning(t), turns, 5, 0.6); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("in turns:\n%+v, want\n%+v", got, want)
	}
	if got := Asked(x, setting.Levels{}, 0, 2); got.Workers != 1 {
		t.Errorf("%d workers on a core that is shared", got.Workers)
	}
}
