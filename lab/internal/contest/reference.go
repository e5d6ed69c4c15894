package contest

import (
	"context"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/load"
)

// A neighbour's load makes all that runs on a core cost more, by a tenth or by half, for a second or
// for ten, and a server that warms up looks the same. So while it is looked at, a server takes turns
// with another whose cost does not depend on its age, on the same cores, and its own cost is told by
// what that one's was in the next turn.
const (
	referenceSlot  = 50 * time.Millisecond
	referenceFirst = 500 * time.Millisecond // after which it is as it stays
)

// reference starts it. It is nil where nobody has to be waited for.
func (o Options) reference(ctx context.Context, c Client) (*started, error) {
	if !o.Steady || !o.Costed() {
		return nil, nil
	}
	port, err := FreePorts(1)
	if err != nil {
		return nil, err
	}
	if o.Running() {
		c.ServerCPUs = Affinity(o.Servers)
	}
	s := Server{Name: "reference", Command: slices.Concat(c.Lab, []string{run.ReferenceCall, "{addr}"})}
	on, err := s.start(c, "/", port)
	if err != nil {
		return nil, err
	}
	if err = on.ready(ctx, answerWithin); err == nil {
		first := load.Plan{Targets: []load.Target{on.asReference()}, Slots: []load.Slot{{Seconds: referenceFirst.Seconds()}}}
		_, err = run.CarryOut(ctx, c.Lab, c.CPUs, first, nil)
	}
	if err != nil {
		on.stop()
		return nil, err
	}
	return on, nil
}

// asReference is the reference as the generator is told of it.
func (on *started) asReference() load.Target {
	return load.Target{Name: on.Name, URL: "http://" + on.addr + "/", Connections: 8, Pipelining: 1, Processes: on.pids()}
}
