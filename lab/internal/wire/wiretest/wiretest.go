// Package wiretest skips tests of a wire where none can be made.
package wiretest

import (
	"errors"
	"sync"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/wire"
)

// tried makes a wire once, and removes it.
var tried = sync.OnceValue(func() error {
	w, err := wire.Make(wire.Spec{LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02})
	if err == nil {
		w.Down()
	}
	return err
})

// NeedsWire skips the test with the reason if this machine cannot make a wire. The test's program
// must answer wire's calls.
func NeedsWire(t testing.TB) {
	t.Helper()
	if unavailable, ok := errors.AsType[wire.Unavailable](tried()); ok {
		t.Skip(unavailable.Why)
	}
}
