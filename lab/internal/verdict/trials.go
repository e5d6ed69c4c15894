package verdict

import (
	"math"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// Trials has a few figures of each of a run's trials as pages print them. Cells
// has one text per trial, in their order: the figures of the columns, separated
// by blanks, with "-" for one that was not recorded. Slots likewise has what a
// request cost the server in each slot of a trial, in µs, with "·" for a slot
// without requests; it is absent if no trial was divided into slots.
type Trials struct {
	Columns []TableHead `json:"columns"`
	Cells   []string    `json:"cells"`
	Slots   []string    `json:"slots,omitempty"`
}

// ofTrials lists what pages show of each trial: what it came to, and how fast
// the cores were before and after it.
var ofTrials = []string{"throughput_rps", "server_cpu_per_request_s", "calibration_before_s", "calibration_after_s"}

// TrialsOf lays out the trials of a measured run; nil for one without any, and
// for a published run, whose trials are its rows. Each column has the third digit
// of its largest figure, and all digits before the point.
func TrialsOf(f *results.File) *Trials {
	if f.Source == results.Published || len(f.Trials) == 0 {
		return nil
	}
	trials := f.Trials
	t := &Trials{Columns: []TableHead{}}
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
		in := shownIn(string(m.Unit), most)
		at := min(0, lastPlace(most*in.factor, nil, nil))
		t.Columns = append(t.Columns, TableHead{name, in.name})
		for i, tr := range trials {
			cell := "-"
			if v, ok := tr.Metrics[name]; ok {
				cell = grouped(v*in.factor, at)
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
