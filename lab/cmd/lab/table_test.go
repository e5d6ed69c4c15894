package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// asking gives both of a workshop's experiments a table of workers over one worker.
func asking(t *testing.T) *workshop {
	t.Helper()
	w := newWorkshop(t)
	for name, entry := range map[string]string{counted: "97", other: "98"} {
		w.write(filepath.Join(w.root.Experiments(), name+".toml"), archivetest.CountedDesign(entry, true)+
			"[relative]\nmetric = \"workers\"\nover = \"workers\"\nto = 1\n")
	}
	return w
}

// A tried is a machine on which an experiment is measured as said, or fails.
type tried map[string]*verdict.File

var errBroken = errors.New("a cable was pulled")

func (m tried) Try(_ context.Context, x *experiment.Experiment, budget time.Duration) (*session.Outcome, error) {
	if m[x.Name] == nil {
		return &session.Outcome{Unmade: "the run failed"}, errBroken
	}
	m[x.Name].Run = budget.String()
	return &session.Outcome{Verdicts: m[x.Name]}, nil
}

// A run that fails leaves its column empty, and the others are measured all the same. Each
// has the part of the budget that its design asks for.
func TestATableSaysWhatIsMissing(t *testing.T) {
	w := asking(t)
	archivetest.Edit(t, w.root.Experiment(counted), "budget_s = 60", "budget_s = 80")
	xs, err := forTable(w.open(), []string{counted, other})
	if err != nil {
		t.Fatal(err)
	}
	twice := &verdict.Relative{Rows: []verdict.RelativeRow{{Level: "1", Base: true},
		{Level: "2", Effect: verdict.Effect{Ratio: 2, Pairs: 6}}}}
	m := tried{other: {Relative: twice}}
	columns, failed := (&tableCall{options: options{Budget: 70 * time.Second}}).measure(context.Background(), m, xs)
	if !errors.Is(failed, errBroken) || m[other].Run != "30s" {
		t.Errorf("%v; of 70 s it had %s", failed, m[other].Run)
	}
	var out bytes.Buffer
	if err := showTable(&out, columns); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"WORKERS  97-counted  98-other\n1        -           1\n2        -           2.00\n",
		"97-counted has no figures: the run failed\n", "over that of 1: the median"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestATableNeedsExperimentsThatAskForOne(t *testing.T) {
	w := asking(t)
	w.write(filepath.Join(w.root.Experiments(), "96-plain.toml"), archivetest.CountedDesign("96", false))
	w.write(filepath.Join(w.root.Experiments(), "95-else.toml"), archivetest.CountedDesign("95", false)+
		"[relative]\nmetric = \"workers\"\nover = \"workers\"\nto = 2\n")
	for want, names := range map[string][]string{
		"96-plain asks for no table: its file has no [relative]":                  {counted, "96-plain"},
		"97-counted and 95-else have no table in common: their [relative] differ": {counted, "95-else"},
		"97-counted is named twice":                                               {counted, counted},
		"97-count":                                                                {"97-count"},
	} {
		if _, err := forTable(w.open(), names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The cheapest level comes first, whatever the order of levels; below the table stands
// what was left out, and where another wall was met.
func TestTheRowsOfATable(t *testing.T) {
	x := &experiment.Experiment{Name: "made-up",
		Relative: &experiment.Relative{Metric: "server_cpu_per_request_s", Over: setting.Server, To: "c"}}
	row := func(level string, ratio, low, high float64) verdict.RelativeRow {
		return verdict.RelativeRow{Level: level, Effect: verdict.Effect{Ratio: ratio, Low: low, High: high, Pairs: 8}}
	}
	slow := row("a", 3, 2.9, 3.1)
	slow.Walls = "client-cpu 8"
	c := column{x: x, left: []results.LeftOut{{Levels: setting.Levels{setting.Server: setting.String("d")},
		Why: "cargo is not there"}}, says: &verdict.File{
		Relative: &verdict.Relative{Rows: []verdict.RelativeRow{slow, row("b", 0.5, 0, 0), {Level: "c", Base: true}}},
		Control:  &verdict.Control{Outcome: verdict.Differs, Reason: "the control differs"},
	}}
	var out bytes.Buffer
	if err := showTable(&out, []column{c}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SERVER  made-up\nc       1\nb       0.500\na       3.00 (2.90 to 3.10)\n",
		"made-up leaves out d: cargo is not there\n", "made-up is suspect: the control differs\n",
		"made-up, a: the server's CPU was not the wall, or not alone, in all trials (client-cpu 8)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if err := showTable(&out, []column{{x: x, none: "no run"}}); err == nil {
		t.Error("a table without figures is no error")
	}
}

func TestATableOfAHostThatIsNotThereIsRefused(t *testing.T) {
	w := asking(t)
	if status, out, errs := w.call("table", counted, "--host", "nope"); status != exitFailed || out != "" ||
		!strings.Contains(errs, `--host "nope": there`) {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}
