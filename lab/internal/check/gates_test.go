package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
)

// A valid trial whose figures close a gate is reported with trial, figure and
// gate. A missing figure is no fault.
func TestCheckHoldsRecordedFiguresAgainstTheGates(t *testing.T) {
	for _, c := range []struct {
		metric string
		v      float64
		gate   string // empty: accepted
	}{
		{"non_2xx", 5000, gate.WrongAnswer}, {"non_2xx", 0, ""},
		{"errors", 1, gate.Errors}, {"timeouts", 1, gate.Errors}, {"resets", 1, gate.Errors},
		{"requests", 0, gate.NoRequests},
		{"workers", 0, gate.LostWorker}, {"workers_serving", 0, gate.LostWorker},
		{"connections_established", 99, gate.Connections}, {"connections_established", 100, ""},
		{"latency_mean_s", 0.2, gate.Little}, {"latency_mean_least_s", 0.2, gate.Little},
		{"latency_mean_least_s", 0.0995, ""},
		{"throttled_s", 0.1, gate.HeldBack},
		// Disturbances refuse nothing.
		{"calibration_after_s", 2e-6, ""}, {"server_foreign_load", 0.9, ""}, {"client_steal", 0.4, ""}, {"duration_s", 6, ""}, {"profile_spread_s", 0.06, ""},
	} {
		f := made(t)
		at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
		f.Provenance.CalibrationS, f.Trials[0].StartedAt = 1e-6, at
		f.Trials[0].Metrics["calibration_before_s"], f.Trials[0].Metrics["calibration_after_s"] = 1e-6, 1e-6
		f.Trials[0].Metrics[c.metric] = c.v
		err := (&file{f, design(t)}).checkGates()
		want := fmt.Sprintf("/trials/0/metrics/%s: ", c.metric)
		switch {
		case c.gate == "" && err != nil:
			t.Errorf("%s of %v: %v", c.metric, c.v, err)
		case c.gate != "" && (err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "the gate "+c.gate+" makes")):
			t.Errorf("%s of %v: %v, want %s by %s", c.metric, c.v, err, want, c.gate)
		}
	}
}

// One changed figure is found.
func TestAPlantedFigureIsFound(t *testing.T) {
	x := turning(t)
	f := turned(x, 2, false)
	f.Trials[3].Metrics["non_2xx"] = 5000
	if err := File(f, x); err == nil || !strings.Contains(err.Error(), "/trials/3/metrics/non_2xx") {
		t.Error(err)
	}
}
