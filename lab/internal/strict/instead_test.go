package strict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNear(t *testing.T) {
	metrics := []string{"throughput_rps", "latency_p50_s", "latency_p99_s", "latency_p999_s", "server_cpu_per_request_s",
		"client_cpu_per_request_s", "errors"}
	for _, c := range []struct {
		name string
		want []string
	}{
		{"throughput_rsp", []string{"throughput_rps"}},
		{"Throughput-RPS", []string{"throughput_rps"}},
		{"latency_p99", []string{"latency_p99_s"}},
		{"cpu_per_request", []string{"server_cpu_per_request_s", "client_cpu_per_request_s"}},
		{"latency", []string{"latency_p50_s", "latency_p99_s", "latency_p999_s"}},
		{"throughput", []string{"throughput_rps"}},
		{"error", []string{"errors"}},
		{"colour", nil},
		{"x", nil},
		{"", nil},
	} {
		if got := Near(c.name, metrics); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.name, got, c.want)
		}
	}
	if got := Near("/raed", []string{"/compute", "/list", "/read", "/simple"}); !slices.Equal(got, []string{"/read"}) {
		t.Errorf("/raed: %q", got)
	}
}

func TestInstead(t *testing.T) {
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("metric_%c%c", 'a'+i%26, 'a'+i/26))
	}
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"flot", []string{"flat", "ratio"}, `did you mean "flat"? There are flat, ratio`},
		{"zebra", []string{"flat", "ratio"}, "there are flat, ratio"},
		{"zebra", []string{"flat"}, "there is only flat"},
		{"zebra", nil, "there are none"},
		{"zebra", many, "it is none of the 60 in the lists of the site's page /contribute, under Names"},
		{"zebra", many[:20], "there are " + strings.Join(many[:20], ", ")},
		{"metric-bb", many, `did you mean "metric_bb"?`},
		{"b", []string{"ba", "bb"}, `did you mean "ba" or "bb"? There are ba, bb`},
	} {
		if got := Instead(c.name, c.known); got != c.want {
			t.Errorf("%q of %d: %s\nwant %s", c.name, len(c.known), got, c.want)
		}
	}
}
