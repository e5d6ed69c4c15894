package verdict

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestACriterionInWords(t *testing.T) {
	const factors = `{ name = "workers", levels = [1, 2] }, { name = "rps", levels = [false, true] }`
	for _, c := range []struct{ claim, says, needs string }{
		{`id = "c", kind = "flat", text = "t", why = "Made up.", metric = "throughput_rps", over = "workers", margin = 0.1125`,
			"between any two levels of workers, throughput at the one is at most 11.25 % above that at the other", ""},
		{`id = "c", kind = "monotonic", text = "t", why = "Made up.", metric = "latency_p50_s", over = "workers", margin = 0.03, needs = { cores = 4, line_rate = true }`,
			"at no step of workers was p50 latency more than 3 % higher on the level before, and the last is above the first",
			"a wire of known line rate and at least 4 cores"},
		{`id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "server_cpu_per_request_s", over = "rps", at_most = 0.95, at = { workers = 2 }, needs = { bound = "server-cpu", cores = 2, line_rate = true }`,
			"where workers is 2, server CPU per request at the last level of RPS over that at the first is at most 0.95",
			"the server's CPU full in every trial, a wire of known line rate and at least 2 cores"},
		{`id = "c", kind = "ratio", text = "t", why = "Made up.", metric = "latency_p99_s", over = "workers", at_least = 1.125, at = { rps = false }`,
			"where RPS is off, p99 latency at the last level of workers over that at the first is at least 1.125", ""},
		{`id = "c", kind = "bound", text = "t", why = "Made up.", bound = "wire"`, "the wire alone is full in every trial",
			""},
		{`id = "c", kind = "moves", text = "t", why = "Made up.", over = "workers", from = "wire", to = "server-cpu", margin = 0.1, needs = { line_rate = true }`,
			"the wire alone is full at the first level of workers, and the server's CPU alone at the last; between the two " +
				"the use of the one falls, and that of the other rises, by at least 10\u00a0% of what it can carry",
			"a wire of known line rate"},
		{`id = "c", kind = "count", text = "t", why = "Made up.", metric = "processes", equals = "workers", plus = 1`,
			"in every trial the count of processes is the level set for workers plus 1", ""},
		{`id = "c", kind = "share", text = "t", why = "Made up.", profile = "cpu", work = "scheduler", at_most = 0.05`,
			"the CPU profile gives scheduling at most 5 % of its time", ""},
		{`id = "c", kind = "share", text = "t", why = "Made up.", profile = "allocs", package = "github.com/brianvoe/gofakeit", at_least = 0.1234`,
			"the profile of allocations gives github.com/brianvoe/gofakeit at least 12.34 % of its bytes", ""},
		{`id = "c", kind = "absent", text = "t", why = "Made up.", profile = "mutex", package = "github.com/brianvoe/gofakeit"`, "the mutex profile has no sample of github.com/brianvoe/gofakeit", ""},
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
profile = { seconds = 1, compare = "workers" }
claims = [{`+c.claim+`}]
`))
		if err != nil {
			t.Errorf("%s: %v", c.claim, err)
			continue
		}
		if says, needs := Criterion(x.Claims[0]), NeedsWords(x.Claims[0].Needs); says != c.says || needs != c.needs {
			t.Errorf("%q, %q", says, needs)
		}
	}
}
