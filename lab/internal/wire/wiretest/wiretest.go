// Package wiretest skips tests of a wire where none can be made.
package wiretest

import (
	"errors"
	"sync"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/wire"
)

var tried = sync.OnceValue(wire.Try)

// NeedsWire skips the test with the reason if this machine cannot make a wire. The test's program
// must answer wire's calls.
func NeedsWire(t testing.TB) {
	t.Helper()
	if unavailable, ok := errors.AsType[wire.Unavailable](tried()); ok {
		t.Skip(unavailable.Why)
	}
}
