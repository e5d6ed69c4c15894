package receive

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/perf"
)

// Frames as perf script prints them: user code alone, a write that hands its
// packet to the receiver at once, and a read.
const (
	parsing = "\t  4a1b2c main.parse\n"
	writing = "\tffffffff81a1 tcp_v4_rcv\n\tffffffff81a2 __netif_receive_skb_one_core\n\tffffffff81a3 tcp_sendmsg\n\t  " +
		"4a1b2d syscall.Write\n"
	reading = "\tffffffff81a4 tcp_recvmsg\n\t  4a1b2e syscall.Read\n"
)

func script(stacks ...string) []byte { return []byte(strings.Join(stacks, "\n")) }

func repeat(stack string, n int) (all []string) {
	for range n {
		all = append(all, stack)
	}
	return all
}

func TestTheShareIsOfStacksThatHandAPacketOver(t *testing.T) {
	stacks := append(repeat(parsing, 300), append(repeat(writing, 100), repeat(reading, 100)...)...)
	g, err := count(perf.Parse(script(stacks...)))
	if err != nil || g.Samples != 500 || g.Share != 0.2 {
		t.Errorf("%+v, %v; want 100 of 500", g, err)
	}
}

func TestAGaugeThatCannotTellIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		script []byte
		says   string
	}{
		"nothing": {nil, "0 samples"},
		"too few": {script(repeat(writing, leastSamples-1)...), "are the least that tell"},
		"no names": {script(repeat("\tffffffff81a1 [unknown]\n\t4a1b2c main.parse\n", 2*leastSamples)...),
			"kernel.kptr_restrict=0"},
	} {
		if g, err := count(perf.Parse(c.script)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v; want an error with %q", name, g, err, c.says)
		}
	}
}
