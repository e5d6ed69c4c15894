package audit

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// printedRow makes a text of one row over a wire of 8 Gbit/s, or 1 GB/s.
func printedRow(t testing.TB, levels map[string]any, printed map[string]string) *File {
	t.Helper()
	table := Table{ID: "t", Place: "p", Experiment: "99-x", Host: "h", Topology: "fleet", LineRateBps: 8e9,
		Rows: []Row{{Given: levels, Printed: printed}}}
	if err := table.resolve(); err != nil {
		t.Fatal(err)
	}
	return &File{Entry: "99", Date: "2026-01-01", Tables: []Table{table}}
}

func TestEveryRowIsChecked(t *testing.T) {
	for _, c := range []struct {
		name    string
		printed map[string]string
		kind    string
		want    string // empty: the check cannot be made
		stack   string
	}{
		{"124 B an answer", map[string]string{"transfer_bytes_per_s": "124 MB/s", "throughput_rps": "1.00M"}, "bytes-per-response", Agrees, ""},
		{"16 B an answer: no room for a head", map[string]string{"transfer_bytes_per_s": "16.0 MB/s", "throughput_rps": "1.00M"},
			"bytes-per-response", Disagrees, ""},
		{"two heads", map[string]string{"transfer_bytes_per_s": "232 MB/s", "throughput_rps": "1.000M"}, "bytes-per-response", Disagrees, ""},
		{"fiber's head", map[string]string{"transfer_bytes_per_s": "123.5 MB/s", "throughput_rps": "1.000M"}, "bytes-per-response", Agrees, "fiber"},
		// The size of other servers' heads is not known.
		{"another head", map[string]string{"transfer_bytes_per_s": "150 MB/s", "throughput_rps": "1.000M"}, "bytes-per-response", Agrees, "net-http"},
		{"hardly one", map[string]string{"transfer_bytes_per_s": "30.0 MB/s", "throughput_rps": "1.000M"}, "bytes-per-response", Disagrees, "net-http"},
		{"no throughput", map[string]string{"transfer_bytes_per_s": "16.0 MB/s"}, "bytes-per-response", "", ""},
		{"a tenth of 1 GB/s", map[string]string{"transfer_bytes_per_s": "100.0 MB/s", "line_rate_share": "10%"}, "line-rate-share", Agrees, ""},
		// 1M answers of 16 bytes and a head of 108 are 0.124 GB/s.
		{"an eighth by rate and size", map[string]string{"throughput_rps": "1.00M", "line_rate_share": "12.4%"}, "line-rate-share", Agrees, ""},
		{"a seventh, printed an eighth", map[string]string{"throughput_rps": "1.10M", "line_rate_share": "12.4%"}, "line-rate-share", Disagrees, ""},
		{"more than the line", map[string]string{"throughput_rps": "8.20M"}, "line-rate-share", Disagrees, ""},
		{"1 GB/s and heads", map[string]string{"transfer_bytes_per_s": "1.000 GB/s"}, "line-rate-share", Disagrees, ""},
		// 100 connections at 10,000/s have a mean latency of 10 ms, so the median can be at most 20 ms.
		{"a median that fits", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "19ms"}, "in-flight", Agrees, ""},
		{"a median that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "21ms"}, "in-flight", Disagrees, ""},
		// 0.49 × 15 ms + 0.01 × 300 ms = 10.35 ms, and of ten seconds 0.3 may be of requests under way before.
		{"a tail that does not", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "16ms", "latency_p99_s": "300ms"}, "in-flight",
			Disagrees, ""},
		{"nothing known of the median", map[string]string{"throughput_rps": "10,001", "latency_p50_s": "<1ms"}, "in-flight", "", ""},
		{"four processes of four workers", map[string]string{"processes": "4"}, "count", Disagrees, ""},
		{"26 connections a worker", map[string]string{"connections_per_worker": "26"}, "per-worker", Disagrees, ""},
		{"a quarter each", map[string]string{"throughput_rps": "8,004", "throughput_per_worker_rps": "2,001"}, "per-worker", Agrees, ""},
		{"a side of 28 times all", map[string]string{"server_cores_busy": "2823%"}, "cpu-sum", Disagrees, ""},
		{"a side that is full", map[string]string{"server_cores_busy": "100%"}, "cpu-sum", "", ""},
		{"a median over the tail", map[string]string{"latency_p50_s": "5ms", "latency_p99_s": "3ms"}, "order", Disagrees, ""},
	} {
		levels := map[string]any{setting.Route: "/simple", setting.Connections: int64(100), setting.Pipelining: int64(1), setting.Workers: int64(4)}
		if c.stack != "" {
			levels[setting.Stack] = c.stack
		}
		files, err := auditOf(printedRow(t, levels, c.printed))
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
			t.Errorf("%s: %q, want %q: %+v", c.name, got, c.want, files[0].Findings)
		}
	}
}
