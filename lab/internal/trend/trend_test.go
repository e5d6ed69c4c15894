package trend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

const valid = `{
  "schema_version": 1,
  "date": "2026-11-23",
  "commit": "76f1d2632faa3bfa9b2b834711b2c4a3501ee007",
  "cpu": "AMD EPYC",
  "cores": 4,
  "blocks": 23,
  "trials": 69,
  "invalid_trials": 1,
  "control": {
    "server_cpu_per_request_s": {"median": 1.01, "low": 0.99, "high": 1.03},
    "throughput_rps": {"median": 0.99, "low": 0.98, "high": 1.02}
  },
  "figures": {
    "server_cpu_per_request_s": {"median": 0.000012, "low": 0.000011, "high": 0.000013},
    "throughput_rps": {"median": 77000, "low": 76000, "high": 81000}
  },
  "claims": {"reproduced": 30, "not-applicable": 6}
}
`

func TestAWeekThatCannotBeIsRefusedByField(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"schema_version": 1`, `"schema_version": 2`, "/schema_version: 2 is not known"},
		{`"2026-11-23"`, `"2026-11-24"`, "differs from the file's name"},
		{`"cores": 4`, `"cores": 4, "cores": 8`, `key "cores" stands twice`},
		{`"cores": 4`, `"cores": 4, "color": 8`, `unknown field "color"`},
		{`"cores": 4`, `"cores": 0`, "/cores: 0"},
		{`"76f1`, `"HEAD`, "is no commit"},
		{`AMD EPYC`, `AMD\nEPYC`, "/cpu"},
		{`AMD EPYC`, ` `, "/cpu"},
		{`"invalid_trials": 1`, `"invalid_trials": 70`, "/invalid_trials"},
		{`"blocks": 23`, `"blocks": 0`, "/blocks"},
		{`"median": 77000`, `"median": -1`, "/figures/throughput_rps"},
		{`"median": 77000`, `"median": 82000`, "/figures/throughput_rps"},
		{`"high": 81000`, `"high": 1e999`, "/figures/throughput_rps/high: 1e999 is beyond"},
		{`"high": 1.02`, `"high": 99`, "/control/throughput_rps"},
		{`"throughput_rps": {"median": 0.99`, `"latency": {"median": 0.99`, "/control: has latency"},
		{`"reproduced"`, `"proved"`, "/claims/proved"},
		{`"reproduced": 30`, `"reproduced": -30`, "/claims/reproduced"},
		{valid, "\n{", "line 2: the file ends"},
		{"\n}\n", strings.Repeat("\n", mostBytes) + "}", "at most"},
	} {
		path := filepath.Join(t.TempDir(), "2026-11-23.json")
		if err := os.WriteFile(path, []byte(strings.Replace(valid, c.old, c.new, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s in place of %s: %v, want %q", c.new, c.old, err, c.want)
		}
	}
}

func week(date, cpu string, cores int, rps float64) *Week {
	return &Week{Date: date, CPU: cpu, Cores: cores,
		Figures: map[string]Range{"throughput_rps": {rps, rps, rps}},
		Control: map[string]Range{"throughput_rps": {1.02, 1.01, 1.05}}}
}

// A figure of one processor is never set beside that of another, nor one of four cores
// beside one of two.
func TestOnlyWeeksOfOneKindOfMachineAreJoined(t *testing.T) {
	s := Of([]*Week{week("2026-11-02", "A", 4, 100), week("2026-11-09", "B", 4, 200), week("2026-11-16", "A", 2, 50), week("2026-11-27", "A", 4, 110)}, 0.03)
	var got []string
	for _, m := range s.Machines {
		line := m.CPU
		for _, p := range m.Points {
			line += " " + p.Date
		}
		got = append(got, line)
	}
	if want := "A 2026-11-02 2026-11-27, B 2026-11-09, A 2026-11-16"; strings.Join(got, ", ") != want {
		t.Errorf("joined %q, want %s", got, want)
	}
	if at := s.Machines[0].Points[1].At; at != 3.57142857 {
		t.Errorf("25 days are %v weeks", at)
	}
	// The noise is around the figure, even where the control is off to one side of 1.
	if got := s.Machines[1].Points[0].Throughput; got != (Range{200, 200, 210}) {
		t.Errorf("the noise around 200 is %v", got)
	}
	if s.Weeks[0].Date != "2026-11-27" || *s.Band != (Edges{0.970873786, 1.03}) {
		t.Errorf("newest %s, band %v", s.Weeks[0].Date, s.Band)
	}
	if none := Of(nil, 0); len(none.Weeks) != 0 || none.Band != nil {
		t.Errorf("no week gives %+v", none)
	}
}

func TestAWeekIsMadeOfItsRunsAndOnlyWithIntervals(t *testing.T) {
	made := func(change func(h *host.Profile, run *results.File, said *verdict.File)) (*Week, error) {
		f := func(v float64) *float64 { return &v }
		h := &host.Profile{CPU: "AMD EPYC", Cores: 4}
		run := &results.File{
			Provenance: &results.Provenance{StartedAt: time.Date(2026, 11, 23, 23, 30, 0, 0, time.FixedZone("", -3600)), Commit: strings.Repeat("a", 40)},
			Trials:     []results.Trial{{Valid: true}, {}, {Valid: true}},
		}
		said := &verdict.File{
			Claims: []verdict.Claim{
				{Verdict: verdict.Reproduced, Effects: []verdict.Effect{{Metric: "throughput_rps", Blocks: 5, Ratio: 1, Low: 0.9, High: 1.1}}},
				{Verdict: verdict.Inconclusive, Effects: []verdict.Effect{{Metric: "server_cpu_per_request_s", Blocks: 5, Ratio: 1, Low: 0.9, High: 1.1}}},
			},
			Conditions: []verdict.Summary{{Metrics: map[string]verdict.Figure{
				"throughput_rps":           {Median: f(9), Low: f(8), High: f(10)},
				"server_cpu_per_request_s": {Median: f(9), Low: f(8), High: f(10)},
			}}},
		}
		change(h, run, said)
		return New(h, []*results.File{run, run}, said, []*verdict.File{said, said})
	}
	w, err := made(func(*host.Profile, *results.File, *verdict.File) {})
	if err != nil {
		t.Fatal(err)
	}
	if w.Date != "2026-11-24" || w.Trials != 6 || w.InvalidTrials != 2 || w.Blocks != 5 || w.Claims["reproduced"] != 2 || w.Claims["inconclusive"] != 2 || w.Control["throughput_rps"].High != 1.1 {
		t.Errorf("%+v", w)
	}
	for _, c := range []struct {
		want   string
		change func(*host.Profile, *results.File, *verdict.File)
	}{
		{"not as committed", func(_ *host.Profile, r *results.File, _ *verdict.File) { r.Provenance.Dirty = true }},
		{"is no commit", func(_ *host.Profile, r *results.File, _ *verdict.File) { r.Provenance.Commit = "unknown" }},
		{"too few for an interval", func(_ *host.Profile, _ *results.File, s *verdict.File) { s.Claims[0].Effects[0].Low = 0 }},
		{"no trial of aa-control is valid", func(_ *host.Profile, _ *results.File, s *verdict.File) { s.Conditions = nil }},
		{"too few blocks", func(_ *host.Profile, _ *results.File, s *verdict.File) {
			s.Conditions[0].Metrics["throughput_rps"] = verdict.Figure{}
		}},
		{"/cpu", func(h *host.Profile, _ *results.File, _ *verdict.File) { h.CPU = "" }},
	} {
		if w, err := made(c.change); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, %v, want %q", w, err, c.want)
		}
	}
}
