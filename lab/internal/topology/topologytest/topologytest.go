// Package topologytest skips tests of a wire where none can be made.
package topologytest

import (
	"errors"
	"sync"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// tried makes a wire once, and removes it.
var tried = sync.OnceValue(func() error {
	link, err := topology.Up(experiment.Topology{Kind: "netns", LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02}, "",
		topology.Carried, false)
	if err == nil {
		link.Down()
	}
	return err
})

// NeedsWire skips the test with the reason if this machine cannot make a wire.
func NeedsWire(t testing.TB) {
	t.Helper()
	if unavailable, ok := errors.AsType[topology.Unavailable](tried()); ok {
		t.Skip(unavailable.Why)
	}
}
