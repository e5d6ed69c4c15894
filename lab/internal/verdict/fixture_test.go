package verdict

import (
	"hash/fnv"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func one(t *testing.T, x *experiment.Experiment, r *results.File, h *host.Profile) Claim {
	t.Helper()
	f := Decide(x, h, []Run{{r, x}})
	if len(f.Claims) != len(x.Claims) {
		t.Fatalf("%d verdicts of %d claims", len(f.Claims), len(x.Claims))
	}
	return f.Claims[0]
}

func runOf(x *experiment.Experiment, name string, rs ...float64) Run {
	f := sample.Ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return Run{sample.Day(f, int(of.Sum32()%10000)), x}
}
