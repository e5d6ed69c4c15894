package check

import (
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// made reads a made-up run of two conditions, measured in one piece.
func made(t testing.TB) *results.File {
	t.Helper()
	f, err := results.Read("../results/testdata/made-up.json")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// turning is a design of four conditions in two groups of two.
func turning(t testing.TB) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Load("../experiment/testdata/turning.toml")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// turned is a made-up run of a design in turns, with or without a control.
func turned(x *experiment.Experiment, blocks int, control bool) *results.File {
	return madeup.Run(madeup.Plan{Experiment: x, Host: "h", Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 11,
		Blocks: blocks, NoControl: !control})
}

// again is the run as it is read from its own text.
func again(t *testing.T, f *results.File) *results.File {
	t.Helper()
	text, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	read := &results.File{}
	if err := results.Decode(text, read); err != nil {
		t.Fatal(err)
	}
	return read
}

func FuzzFile(f *testing.F) {
	for blocks := range 3 {
		text, err := results.Encode(turned(turning(f), blocks, blocks > 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	text, err := results.Encode(made(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	piece, turns := design(f), turning(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		var read results.File
		if results.Decode(text, &read) != nil {
			return
		}
		for _, x := range []*experiment.Experiment{piece, turns} {
			_ = File(&read, x) // any finding will do, as long as it returns
		}
	})
}
