package measure

import (
	"math"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

// The kernel sends and receives a wire's packets on nobody's clock, and more of them where a load is in small pieces.
// Others are what other processes ran, and no more than the servers' cores had for them.
func TestTheKernelsWorkForAWireIsNobodys(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name         string
		rest, others []time.Duration // by turn
		want         float64         // in cores
	}{
		{"packets", []time.Duration{20 * ms, 30 * ms}, []time.Duration{0, 0}, 0},
		{"packets beside a process", []time.Duration{20 * ms, 30 * ms}, []time.Duration{4 * ms, 6 * ms}, 0.05},
		{"a process on the client's core too", []time.Duration{3 * ms, 1 * ms}, []time.Duration{50 * ms, 50 * ms}, 0.02},
		{"ticks of the cores' time, in the mean", []time.Duration{-5 * ms, 15 * ms}, []time.Duration{5 * ms, 5 * ms}, 0.05},
	} {
		var turns []turn
		for i := range c.rest {
			turns = append(turns, turn{rest: c.rest[i], others: c.others[i], took: 100 * ms})
		}
		if got := strangers(turns); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v of a core, want %v", c.name, got, c.want)
		}
	}
	if got := strangers(nil); got != 0 {
		t.Errorf("of no turn: %v", got)
	}
}

// A server may hold connections at a second port of which only its client knows, as one whose readers have a process of
// their own.
func TestAClientsOwnCountOfConnectionsStands(t *testing.T) {
	held := proc.Held{Connections: 17, Processes: []proc.HeldBy{{Connections: 17}}}
	for want, m := range map[float64]map[string]float64{200: {"connections_established": 200}, 17: {}} {
		if attended(m, held); m["connections_established"] != want {
			t.Errorf("%v, want %v", m, want)
		}
	}
}
