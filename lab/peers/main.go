// Command peers prints what lab/batch costs beside other ways to gather events
// into batches: adding an event, delivering batches over loopback HTTP, and
// doing both at a fixed rate.
//
// Its stance: only ratios of one run count, so all peers take turns in short
// rounds, and what is printed of a ratio is its median and its least over the
// rounds. Each peer is set to batches of 1,000 events of 56 bytes, a queue of
// 10,000 and 4 batches in flight as far as it can be, and says what it does
// when it is full: one that drops, carries less, or waits for an answer is not
// cheaper by that, it does something else.
//
// Its limits: producers, queue, senders and the receiver share one process and
// its processors. Events have no pointers; those that have cost every peer the
// garbage collector's attention. A null sink looks at nothing, so that adding
// is measured with buffers that no other processor has read. It is a module of
// its own, so that whoever imports lab/batch imports none of its peers.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often each peer has its turn")
	slice := flag.Duration("slice", 25*time.Millisecond, "how long a turn lasts, roughly, when adding")
	window := flag.Duration("window", 150*time.Millisecond, "how long a turn lasts when delivering")
	paced := flag.Duration("paced", 500*time.Millisecond, "how long a turn lasts at a fixed rate")
	flag.Parse()
	if *rounds < 1 || *slice <= 0 || *window <= 0 || *paced <= 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	fmt.Printf("Events of 56 bytes, batches of %d, queue of %d; %s, %d processors; %d rounds, in each of which all take turns\n", count, capacity, runtime.Version(), runtime.GOMAXPROCS(0), *rounds)
	enqueueing(os.Stdout, *rounds, *slice)
	delivering(os.Stdout, *rounds, *window)
	pacing(os.Stdout, *rounds, *paced)
	fmt.Println("\nWhen there is no room, an event")
	for _, p := range peers {
		fmt.Printf("  %-24s %s\n", p.name, p.full)
	}
}
