// Package receive gauges how much of a server's CPU time is its client's work.
//
// Between processes on one machine there is no network card. What a server
// sends runs through the receiving side of the network stack at once, on the
// server's core and on the server's CPU clock, before its system call returns:
// over loopback and over a veth pair alike. On a network card the client's
// machine would pay for it. So a raw CPU time a request is too high by that
// part, and the ratio of two servers lies too near to 1.
//
// The gauge is perf's: it samples the stacks of the server's threads by a
// clock, and Share is the part of the samples that handed a packet to its
// receiver. Limits: it sees what the client's TCP does on the server's core,
// and not what it would do elsewhere (interrupts, a card's driver, checksums);
// and it needs the right to sample the kernel.
package receive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/perf"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// leastSamples is the fewest that say anything: at a share of a fifth, its
// standard error is then 0.02.
const leastSamples = 400

// handing is the kernel's function that hands a packet to the protocol that
// receives it. All its variants begin so.
const handing = "__netif_receive_skb"

// A Gauge is what was seen of a server's processes.
type Gauge struct {
	Share   float64 // of the server's CPU time, 0 to 1
	Samples int
}

// Of samples the processes for a while. Its file goes to a directory of its own
// below dir, which it removes.
func Of(ctx context.Context, dir string, pids []int, window time.Duration) (g Gauge, err error) {
	stacks, err := perf.Record(ctx, dir, pids, window)
	if err != nil {
		return g, err
	}
	return count(stacks)
}

func count(stacks []perf.Stack) (g Gauge, err error) {
	g.Samples = len(stacks)
	with := func(prefix string) int {
		return strict.Count(stacks, func(stack perf.Stack) bool {
			return slices.ContainsFunc(stack, func(f perf.Frame) bool { return strings.HasPrefix(f.Symbol, prefix) })
		})
	}
	handed := with(handing)
	switch {
	case g.Samples < leastSamples:
		return g, fmt.Errorf("perf took %d samples of the server, and %d are the least that tell", g.Samples, leastSamples)
	case handed == 0 && with("tcp_") == 0:
		return g, errors.New("perf cannot name the kernel's functions (as root: sysctl kernel.kptr_restrict=0)")
	}
	g.Share = float64(handed) / float64(g.Samples)
	return g, nil
}
