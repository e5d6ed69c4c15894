package pages

import (
	"hash/fnv"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func one(t *testing.T, x *experiment.Experiment, r *results.File, h *host.Profile) verdict.Claim {
	t.Helper()
	f := verdict.Decide(x, h, []verdict.Run{{File: r, Then: x}})
	if len(f.Claims) != len(x.Claims) {
		t.Fatalf("%d verdicts of %d claims", len(f.Claims), len(x.Claims))
	}
	return f.Claims[0]
}

func runOf(x *experiment.Experiment, name string, rs ...float64) verdict.Run {
	f := sample.Ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return verdict.Run{File: sample.Day(f, int(of.Sum32()%10000)), Then: x}
}

func ptr[T any](v T) *T { return &v }

const p50 = "latency_p50_s"
