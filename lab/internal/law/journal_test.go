package law_test

import (
	"path/filepath"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// The journal's own trials keep the laws that it holds others against.
func TestTheJournalsOwnTrialsKeepTheLaws(t *testing.T) {
	paths, err := filepath.Glob("../../../data/results/*/*.json")
	if err != nil || len(paths) < 100 {
		t.Fatal(len(paths), err)
	}
	held, said := map[string]int{}, map[law.Verdict]int{}
	for _, path := range paths {
		f, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		published(t, path, f, said)
		levels := map[string]setting.Levels{}
		generators := map[string]string{}
		for _, c := range f.Conditions {
			of := c
			for _, o := range f.Conditions {
				if o.ID == c.ControlOf {
					of = o
				}
			}
			levels[c.ID] = f.Settings.With(of.Levels)
			generators[c.ID] = of.Generator
			if g, ok := levels[c.ID]["generator"]; ok {
				generators[c.ID] = g.String()
			}
		}
		for _, trial := range f.Trials {
			if !trial.Valid {
				continue
			}
			row := rowOf(trial.Metrics, levels[trial.Condition], generators[trial.Condition])
			row.Judge(func(of law.Result) {
				if held[of.Law]++; !of.Holds {
					t.Errorf("%s, trial %d: %s %.6g, %s %.6g (%s)", path, trial.Seq, of.Of, of.Stands.Value, of.To,
						of.Allowed.Value, of.Law)
				}
			}, func(string) {})
		}
	}
	if held[law.InFlight] < 1000 || held[law.Order] < 1000 || said[law.Sound] < 1000 {
		t.Errorf("few trials were held against laws: %v, %v", held, said)
	}
	t.Log(held, said)
}

// published judges what the journal publishes of a run as CSV, as a reader would. It has quantiles of much
// beside latency, and figures that no head says in full.
func published(t *testing.T, path string, f *results.File, said map[law.Verdict]int) {
	t.Helper()
	sheet, err := f.Sheet()
	if err != nil {
		t.Fatal(err)
	}
	report, err := law.Judge(path, sheet, law.Options{})
	if err != nil {
		return // of batches, say, which have no figure of HTTP
	}
	for _, found := range report.Findings {
		if found.Verdict == law.Impossible || found.Verdict == law.Unread {
			t.Errorf("%s as CSV, line %d: %s", path, found.Line, found.Says)
		}
	}
	for verdict, n := range report.Of {
		said[verdict] += n
	}
}

func rowOf(metrics map[string]float64, levels setting.Levels, generator string) *law.Row {
	row := &law.Row{Sampled: true} // a rate is of the slots' own times
	for name, id := range map[string]string{"throughput_rps": "rate", "requests": "requests", "duration_s": "duration",
		"latency_mean_s": "mean", "latency_max_s": "max", "non_2xx": "bad"} {
		if v, ok := metrics[name]; ok {
			f, _ := law.FigureOf(id)
			row.Set(f, law.Exactly(v))
		}
	}
	for _, id := range []string{"p50", "p90", "p99", "p999"} {
		q, _ := law.FigureOf(id)
		if v, ok := metrics["latency_"+id+"_s"]; ok {
			if generator == "" || generator == "autocannon" { // cut to whole milliseconds
				row.Set(q, law.Quantity{Value: v, Low: v, High: v + 1e-3})
			} else {
				row.Set(q, law.Exactly(v))
			}
		}
	}
	for name, f := range map[string]law.Figure{setting.Connections: law.Connections, setting.Pipelining: law.Depth} {
		if n, ok := levels[name].Int(); ok {
			row.Set(f, law.Exactly(float64(n)))
		}
	}
	_, rated := levels[setting.Rate]
	_, over := levels[setting.Overload]
	row.Early = rated || over // latencies begin when a request is due
	return row
}
