package telemetry

import (
	"os"
	"testing"

	"github.com/prometheus/procfs"
)

func watching(b *testing.B) *Sampler {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		b.Fatal(err)
	}
	return &Sampler{fs: fs, sys: "/sys", kernels: map[int]bool{},
		targets: Targets{Pairs: []Pair{{[]int{os.Getpid()}, os.Getpid}}, NetPID: os.Getpid()}}
}

// The cost of a sample and of a survey: the first is taken five times a second,
// the second two or three times, and together they must stay below a hundredth
// of a core.
func BenchmarkSample(b *testing.B) {
	s := watching(b)
	s.look()
	for b.Loop() {
		s.take(nil)
	}
}

func BenchmarkSurvey(b *testing.B) {
	s := watching(b)
	for b.Loop() {
		s.look()
	}
}
