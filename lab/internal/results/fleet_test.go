package results_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// overLoopback is a design of two conditions in turns.
func overLoopback(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../experiment/testdata/over-loopback.toml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func fleetRun(t *testing.T, text string, clients ...string) (*results.File, *experiment.Experiment) {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return madeup.Run(madeup.Plan{Experiment: x, Hosts: results.Hosts{Server: "h", Client: clients[0], Clients: clients},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 11, Blocks: 2, Ended: results.Blocks}), x
}

// A link whose rate nobody knows may have been the wall.
func TestALinkOfUnknownRateIsNoLinkWithRoom(t *testing.T) {
	f, _ := fleetRun(t, overLoopback(t), "i", "i")
	if b := f.Trials[0].Bound; b != gate.BoundServerCPU ||
		!strings.Contains(f.Trials[0].BoundWhy, "the fullest client is 1 of 2: ") {
		t.Errorf("%s (%s)", b, f.Trials[0].BoundWhy)
	}
	f.Provenance.Fleet.Clients[1].LineRateBps = 0
	for i := range f.Trials {
		c := &f.Trials[i].Clients[1]
		c.LineRateShare = nil
		if f.Conclude(&f.Trials[i]); f.Trials[i].Bound != gate.BoundUnknown {
			t.Errorf("the server is called the wall, though a link may have been: %s", f.Trials[i].Bound)
		}
	}
}

func TestClientsOnTheServersCoresShareThem(t *testing.T) {
	f, _ := fleetRun(t, overLoopback(t), "h", "h")
	f.Provenance.Fleet.Clients[1].CPUs = "0"
	if !f.SharedCores() {
		t.Error("the second client ran on the server's core")
	}
	f.Provenance.Fleet.Machines = []int{0, 1, 1}
	if f.SharedCores() {
		t.Error("they are on another machine")
	}
}
