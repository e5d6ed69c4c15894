package verdict

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestACriterionInWords(t *testing.T) {
	const factors = `{ name = "workers", levels = [1, 2, 4] }, { name = "rps", levels = [false, true] }`
	for _, c := range []struct{ claim, says, needs string }{
		{`kind = "flat", metric = "throughput_rps", over = "workers", margin = 0.1125`,
			"between any two of all levels of workers, throughput at the one is at most 11.25\u00a0% above that at the other", ""},
		{`kind = "flat", metric = "throughput_rps", over = "workers", levels = [1, 4], margin = 0.05`,
			"between any two of the levels 1 and 4 of workers, throughput at the one is at most 5\u00a0% above that at the other", ""},
		{`kind = "monotonic", metric = "latency_p50_s", over = "workers", margin = 0.03, needs = { cores = 4, line_rate = true }`,
			"from step to step of all levels of workers, p50 latency falls by at most 3\u00a0%, and the last is above the first",
			"a wire of known line rate and at least 4 cores"},
		{`kind = "monotonic", metric = "throughput_rps", over = "workers", levels = [2, 1, 4], margin = 0.05`,
			"from step to step of the levels 2, 1 and 4 of workers, throughput falls by at most 5\u00a0%, and the last is above the first", ""},
		{`kind = "ratio", metric = "server_cpu_per_request_s", over = "rps", at_most = 0.95, at = { workers = 2 }, needs = { bound = "server-cpu" }`,
			"where workers is 2, server CPU per request where RPS is at its last level, over that where it is at its first, is at most 0.95",
			"the server's CPU as the bottleneck"},
		{`kind = "ratio", metric = "latency_p99_s", over = "workers", levels = [4, 1], at_least = 0.5, at_most = 1.125`,
			"p99 latency where workers is 1, over that where it is 4, is at least 0.5 and at most 1.125", ""},
		{`kind = "bound", bound = "wire"`, "the wire alone is the bottleneck of most blocks", ""},
		{`kind = "value", metric = "processes", equals = "workers", plus = 1`, "processes is the level set for workers plus 1", ""},
		{`kind = "value", metric = "processes", at_least = 8, at_most = 8`, "processes is 8", ""},
		{`kind = "share", profile = "cpu", work = "scheduler", at_most = 0.05`, "the CPU profile gives scheduling at most 5\u00a0% of its time", ""},
		{`kind = "share", profile = "allocs", package = "github.com/brianvoe/gofakeit", at_least = 0.1234`,
			"the profile of allocations gives github.com/brianvoe/gofakeit at least 12.34\u00a0% of its bytes", ""},
	} {
		x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "t"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "netns", line_rate_bps = 500000000, burst_bytes = 100000, queue_s = 0.05 }
settings = { route = "/read", connections = 100 }
factors = [`+factors+`]
budget_s = 60
block = { slot_s = 1, rounds = 1, warmup_s = 0 }
profile = { seconds = 1 }
claims = [{ id = "c", text = "t", why = "Made up.", `+c.claim+` }]
`))
		if err != nil {
			t.Errorf("%s: %v", c.claim, err)
			continue
		}
		if says, needs := Criterion(x.Claims[0]), Needs(x.Claims[0].Needs); says != c.says || needs != c.needs {
			t.Errorf("%q, %q", says, needs)
		}
	}
}
