package pages

import (
	"math"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// ofTrials lists what pages show of each trial: what it came to, and how fast
// the cores were before and after it.
var ofTrials = []string{"throughput_rps", "server_cpu_per_request_s", "calibration_before_s", "calibration_after_s"}

// TrialsOf lays out the trials of a run; nil for one without any. Each column has the
// third digit of its largest figure, and all digits before the point.
func TrialsOf(f *results.File) *verdict.Trials {
	if len(f.Trials) == 0 {
		return nil
	}
	trials := f.Trials
	t := &verdict.Trials{Columns: []verdict.TableHead{}}
	rows := make([][]string, len(trials))
	for _, name := range ofTrials {
		most, any := 0.0, false
		for _, tr := range trials {
			if v, ok := tr.Metrics[name]; ok {
				most, any = max(most, math.Abs(v)), true
			}
		}
		if !any {
			continue
		}
		m, _ := metric.Lookup(name)
		in := words.UnitFor(string(m.Unit), most)
		at := min(0, words.LastPlace(most*in.Factor, nil, nil))
		t.Columns = append(t.Columns, verdict.TableHead{Metric: name, Unit: in.Name})
		for i, tr := range trials {
			cell := "-"
			if v, ok := tr.Metrics[name]; ok {
				cell = words.Grouped(v*in.Factor, at)
			}
			rows[i] = append(rows[i], cell)
		}
	}
	divided := false
	for i, tr := range trials {
		t.Cells = append(t.Cells, strings.Join(rows[i], " "))
		t.Slots = append(t.Slots, slotCosts(tr.Slots))
		divided = divided || tr.Slots != nil
	}
	if !divided {
		t.Slots = nil
	}
	return t
}

func slotCosts(s *results.Slots) string {
	if s == nil {
		return ""
	}
	costs := make([]string, len(s.Requests))
	for i, n := range s.Requests {
		costs[i] = "·"
		if n > 0 {
			costs[i] = strconv.FormatFloat(1e6*s.ServerCPUS[i]/float64(n), 'f', 2, 64)
		}
	}
	return strings.Join(costs, " ")
}
