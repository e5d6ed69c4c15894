package pages

import (
	"hash/fnv"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func runOf(x *experiment.Experiment, name string, rs ...float64) verdict.Run {
	f := sample.Ratios(x, rs...)
	f.Run = name
	of := fnv.New32()
	of.Write([]byte(name))
	return verdict.Run{File: sample.Day(f, int(of.Sum32()%10000)), Then: x}
}

func ptr[T any](v T) *T { return &v }

const p50 = "latency_p50_s"
