package pages

import (
	"reflect"
	"slices"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func TestTrialsAreListedInTheirOrderWithWhatWasRecorded(t *testing.T) {
	trials := []results.Trial{
		{Seq: 1, Valid: true, Metrics: sample.Figures{sample.Rps: 151234.4, sample.Cost: 6.3649e-6,
			"calibration_before_s": 0.1}},
		{Seq: 2, Metrics: sample.Figures{"errors": 1}},
		{Seq: 3, Valid: true, Metrics: sample.Figures{sample.Rps: 98.5, sample.Cost: 21.75e-6,
			"calibration_before_s": 0.0995}},
	}
	got := TrialsOf(&results.File{Trials: trials})
	want := &verdict.Trials{
		Columns: []verdict.TableHead{{Metric: sample.Rps, Unit: "/s"}, {Metric: sample.Cost, Unit: "µs"},
			{Metric: "calibration_before_s", Unit: "ms"}},
		Cells: []string{"151,234 6.4 100", "- - -", "99 21.8 100"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := TrialsOf(&results.File{}); got != nil {
		t.Errorf("without trials: %+v", got)
	}
}

func TestSlotsHaveWhatARequestCost(t *testing.T) {
	trials := []results.Trial{
		{Seq: 1, Slots: &results.Slots{Requests: []int64{1000, 0, 300}, ServerCPUS: []float64{0.00636, 0.00001, 0.001}}},
		{Seq: 2},
	}
	got := TrialsOf(&results.File{Trials: trials}).Slots
	if want := []string{"6.36 · 3.33", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := TrialsOf(&results.File{Trials: trials[1:]}).Slots; got != nil {
		t.Errorf("of a trial in one piece: %q", got)
	}
}
