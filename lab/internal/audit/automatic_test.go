package audit

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// printedRow makes a text of one row over a wire of 8 Gbit/s, or 1 GB/s.
func printedRow(t testing.TB, levels map[string]any, printed map[string]string) *Text {
	t.Helper()
	table := Table{ID: "t", Place: "p", Experiment: "99-x", Host: "h", Topology: "fleet", LineRateBps: 8e9,
		Rows: []Row{{levels, printed}}}
	if err := table.resolve(); err != nil {
		t.Fatal(err)
	}
	return &Text{Entry: "99", Date: "2026-01-01", Tables: []Table{table}}
}

func TestEveryRowIsChecked(t *testing.T) {
	simple := map[string]any{setting.Route: "/simple", setting.Connections: int64(100), setting.Pipelining: int64(1),
		setting.Workers: int64(4)}
	for _, c := range []struct {
		name    string
		printed map[string]string
		kind    Kind
		want    string // empty: the check cannot be made
	}{
		{"124 B an answer", map[string]string{"transfer_bytes_per_s": "124 MB/s", "throughput_rps": "1.00M"}, Kind(law.Answer.ID),
			Agrees},
		{"16 B an answer: no room for a head",
			map[string]string{"transfer_bytes_per_s": "16.0 MB/s", "throughput_rps": "1.00M"}, Kind(law.Answer.ID), Disagrees},
		{"no throughput", map[string]string{"transfer_bytes_per_s": "16.0 MB/s"}, Kind(law.Answer.ID), ""},
		{"a tenth of 1 GB/s", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "10%"}, Kind(law.Line.ID),
			Agrees},
		{"a tenth, printed a fifth", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "20%"},
			Kind(law.Line.ID), Disagrees},
		// 1M answers of 16 bytes and a head of 108 are 0.124 GB/s.
		{"an eighth by rate and size", map[string]string{"throughput_rps": "1.00M", "line_rate_share": "12.4%"}, Kind(law.Line.ID),
			Agrees},
		{"a seventh, printed an eighth", map[string]string{"throughput_rps": "1.10M", "line_rate_share": "12.4%"}, Kind(law.Line.ID),
			Disagrees},
		{"more than the line", map[string]string{"throughput_rps": "8.20M"}, Kind(law.Line.ID), Disagrees},
		{"0.995 GB/s and heads", map[string]string{"transfer_bytes_per_s": "0.995 GB/s"}, Kind(law.Line.ID), Agrees},
		{"1 GB/s and heads", map[string]string{"transfer_bytes_per_s": "1.000 GB/s"}, Kind(law.Line.ID), Disagrees},
		// 100 connections at 10,000/s have a mean latency of 10 ms, so the median can
		// be at most 20 ms.
		{"a median that fits", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "19ms"}, Kind(law.InFlight.ID), Agrees},
		{"a median that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "21ms"}, Kind(law.InFlight.ID),
			Disagrees},
		// 0.49 × 15 ms + 0.01 × 300 ms = 10.35 ms
		{"a tail that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "15ms",
			"latency_p99_s": "300ms"}, Kind(law.InFlight.ID), Disagrees},
		{"nothing known of the median", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "<1ms"}, Kind(law.InFlight.ID), ""},
		{"five processes of four workers", map[string]string{"processes": "5"}, Kind(law.Number.ID), Agrees},
		{"four processes of four workers", map[string]string{"processes": "4"}, Kind(law.Number.ID), Disagrees},
		{"25 connections a worker", map[string]string{"connections_per_worker": "25"}, Kind(law.Worker.ID), Agrees},
		{"26 connections a worker", map[string]string{"connections_per_worker": "26"}, Kind(law.Worker.ID), Disagrees},
		{"a quarter each", map[string]string{"throughput_rps": "8,004", "throughput_per_worker_rps": "2,001"}, Kind(law.Worker.ID),
			Agrees},
		{"a side of 28 times all", map[string]string{"server_cores_busy": "2823%"}, Kind(law.CPU.ID), Disagrees},
		{"a side that is full", map[string]string{"server_cores_busy": "100%"}, Kind(law.CPU.ID), ""},
		{"a median over the tail", map[string]string{"latency_p50_s": "5ms", "latency_p99_s": "3ms"}, Kind(law.Order.ID), Disagrees},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := audited(t, printedRow(t, simple, c.printed))
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

// No row of a table passes because another row was the one that somebody checked: one
// more tenth in any of them shows.
func TestEachRowIsHeldAgainstTheLine(t *testing.T) {
	for _, table := range []int{1, 2} {
		read := func() *Table {
			text, err := Load("../../../data/texts/12.toml")
			if err != nil {
				t.Fatal(err)
			}
			return &text.Tables[table]
		}
		whole := read()
		for i := range whole.Rows {
			planted := read()
			planted.rows[i].figures["throughput_rps"] = reading{whole.rows[i].figures["throughput_rps"].Times(law.Exactly(1.1)), ""}
			was, is := sharesOf(whole), sharesOf(planted)
			ids := map[string]bool{}
			for _, f := range was {
				if ids[f.ID] {
					t.Errorf("%s: two findings are named %s", whole.ID, f.ID)
				}
				ids[f.ID] = true
			}
			if len(was) != len(whole.Rows) || len(is) != len(was) {
				t.Fatalf("%s: %d rows are held against the line, and %d of the planted", whole.ID, len(was), len(is))
			}
			for k := range is {
				if k != i && is[k].Recomputed != was[k].Recomputed {
					t.Errorf("%s: row %d moved with row %d", whole.ID, k, i)
				}
			}
			if is[i].Verdict != Disagrees || is[i].Recomputed.Value < 1.09*was[i].Recomputed.Value {
				t.Errorf("%s: a tenth more in row %d goes unseen: %+v", whole.ID, i, is[i])
			}
		}
	}
}

// sharesOf are the findings about the rows' shares of the line.
func sharesOf(t *Table) (out []Finding) {
	for _, f := range t.automatic() {
		if strings.HasSuffix(f.ID, "-line_rate_share") {
			out = append(out, f)
		}
	}
	return out
}
