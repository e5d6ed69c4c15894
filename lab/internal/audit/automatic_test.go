package audit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// published makes a run with one trial over a wire of 80 bit/s, or 10 B/s.
func published(levels setting.Levels, printed map[string]string) *results.File {
	t := results.Trial{Seq: 1, Block: 1, Condition: "c1", Valid: true, Metrics: map[string]float64{}, Below: map[string]float64{}, Printed: printed}
	for name, p := range printed {
		q, err := parse(p, manner{})
		if err != nil {
			panic(err)
		}
		if strings.HasPrefix(p, "<") {
			t.Below[name] = q.Value
		} else {
			t.Metrics[name] = q.Value
		}
	}
	return &results.File{
		Experiment: "99-x", Run: "published", Source: results.Published, Text: &results.Text{Entry: "99"},
		Topology: results.Topology{Kind: "fleet", LineRateBps: 8e9}, Conditions: []results.Condition{{ID: "c1", Levels: levels}}, Trials: []results.Trial{t},
	}
}

func TestEveryPublishedTrialIsChecked(t *testing.T) {
	simple := setting.Levels{setting.Route: setting.String("/simple"), setting.Connections: setting.Int(100), setting.Pipelining: setting.Int(1), setting.Workers: setting.Int(4)}
	for _, c := range []struct {
		name    string
		printed map[string]string
		kind    Kind
		want    string // empty: the check cannot be made
	}{
		{"124 B an answer", map[string]string{"transfer_bytes_per_s": "124 MB/s", "throughput_rps": "1.00M"}, ResponseSize, Agrees},
		{"16 B an answer: no room for a head", map[string]string{"transfer_bytes_per_s": "16.0 MB/s", "throughput_rps": "1.00M"}, ResponseSize, Disagrees},
		{"no throughput", map[string]string{"transfer_bytes_per_s": "16.0 MB/s"}, ResponseSize, ""},
		{"a tenth of 1 GB/s", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "10%"}, LineRate, Agrees},
		{"a tenth, printed a fifth", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "20%"}, LineRate, Disagrees},
		// 1M answers of 16 bytes and a head of 108 are 0.124 GB/s.
		{"an eighth by rate and size", map[string]string{"throughput_rps": "1.00M", "line_rate_share": "12.4%"}, LineRate, Agrees},
		{"a seventh, printed an eighth", map[string]string{"throughput_rps": "1.10M", "line_rate_share": "12.4%"}, LineRate, Disagrees},
		{"more than the line", map[string]string{"throughput_rps": "8.20M"}, LineRate, Disagrees},
		{"0.995 GB/s and heads", map[string]string{"transfer_bytes_per_s": "0.995 GB/s"}, LineRate, Agrees},
		{"1 GB/s and heads", map[string]string{"transfer_bytes_per_s": "1.000 GB/s"}, LineRate, Disagrees},
		// 100 connections at 10,000/s have a mean latency of 10 ms, so the median can
		// be at most 20 ms.
		{"a median that fits", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "19ms"}, InFlight, Agrees},
		{"a median that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "21ms"}, InFlight, Disagrees},
		// 0.49 × 15 ms + 0.01 × 300 ms = 10.35 ms
		{"a tail that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "15ms", "latency_p99_s": "300ms"}, InFlight, Disagrees},
		{"nothing known of the median", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "<1ms"}, InFlight, ""},
		{"five processes of four workers", map[string]string{"processes": "5"}, Counts, Agrees},
		{"four processes of four workers", map[string]string{"processes": "4"}, Counts, Disagrees},
		{"25 connections a worker", map[string]string{"connections_per_worker": "25"}, PerWorker, Agrees},
		{"26 connections a worker", map[string]string{"connections_per_worker": "26"}, PerWorker, Disagrees},
		{"a quarter each", map[string]string{"throughput_rps": "8,004", "throughput_per_worker_rps": "2,001"}, PerWorker, Agrees},
		{"a median over the tail", map[string]string{"latency_p50_s": "5ms", "latency_p99_s": "3ms"}, Reading, Disagrees},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := Of(nil, []*results.File{published(simple, c.printed)})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range files[0].Findings {
				if f.Kind == c.kind && (got == "" || f.Verdict == Disagrees) {
					got = f.Verdict
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q: %+v", got, c.want, files[0].Findings)
			}
		})
	}
}

func TestAPublishedFigureIsThePrintedOne(t *testing.T) {
	r := published(setting.Levels{}, map[string]string{"throughput_rps": "1,001"})
	r.Trials[0].Metrics["throughput_rps"] = 1010
	_, err := Of(nil, []*results.File{r})
	fault := (*Fault)(nil)
	if !errors.As(err, &fault) || fault.Run != r || !strings.Contains(err.Error(), `/trials/0/printed: throughput_rps is 1010, but printed as "1,001"`) {
		t.Errorf("%v", err)
	}
}

// No row of a table passes because another row was the one that somebody checked: one
// more tenth in any of them shows.
func TestEachRowIsHeldAgainstTheLine(t *testing.T) {
	for _, run := range []string{"published-2026-06-12-c6in-8xlarge-ramp", "published-2026-06-12-c6in-8xlarge"} {
		path := "../../../data/results/12-compression/" + run + ".json"
		r, err := results.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Trials {
			planted, err := results.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			m := planted.Trials[i].Metrics
			m["throughput_rps"] = math.Round(m["throughput_rps"] * 1.1)
			planted.Trials[i].Printed["throughput_rps"] = fmt.Sprintf("%.0f", m["throughput_rps"])
			was, is := shares(t, r), shares(t, planted)
			ids := map[string]bool{}
			for _, f := range was {
				if ids[f.ID] {
					t.Errorf("%s: two findings are named %s", run, f.ID)
				}
				ids[f.ID] = true
			}
			if len(was) != len(r.Trials) || len(is) != len(was) {
				t.Fatalf("%s: %d rows are held against the line, and %d of the planted", run, len(was), len(is))
			}
			for k := range is {
				if k != i && is[k].Recomputed != was[k].Recomputed {
					t.Errorf("%s: row %d moved with row %d", run, k, i)
				}
			}
			if is[i].Verdict != Disagrees || is[i].Recomputed.Value < 1.09*was[i].Recomputed.Value {
				t.Errorf("%s: a tenth more in row %d goes unseen: %+v", run, i, is[i])
			}
		}
	}
}

// shares are the findings about the rows' shares of the line.
func shares(t *testing.T, r *results.File) (out []Finding) {
	t.Helper()
	found, err := automatic(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if strings.HasSuffix(f.ID, "-line_rate_share") {
			out = append(out, f)
		}
	}
	return out
}
