// Command peers prints what lab/batch costs compared with other ways to gather events
// into batches: adding an event, delivering batches over loopback HTTP, and
// doing both at a fixed rate.
//
// Only ratios within one run count: all peers take turns in short rounds, and a ratio is
// printed as its median and its least over the rounds. Each peer is set to batches of
// 1,000 events of 56 bytes, a queue of 10,000 and 4 batches in flight, as far as it can
// be, and the table says what it does when it is full. A peer that drops events, carries
// less, or waits for an answer is not cheaper because of that: it does something else.
//
// Limits: producers, queue, senders and the receiver share one process and its
// processors. Events have no pointers; with pointers every peer would give the garbage
// collector more work. The null sink does not read events, so adding is measured with
// buffers that no other processor has read. This is a module of its own, so that a
// program that imports lab/batch imports none of its peers.
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
	fmt.Printf("Events of 56 bytes, batches of %d, queue of %d; %s, %d processors; %d rounds, in each of which all "+
		"take turns\n", count, capacity, runtime.Version(), runtime.GOMAXPROCS(0), *rounds)
	enqueueing(os.Stdout, *rounds, *slice)
	delivering(os.Stdout, *rounds, *window)
	pacing(os.Stdout, *rounds, *paced)
	fmt.Println("\nWhen there is no room, an event")
	for _, p := range peers {
		fmt.Printf("  %-24s %s\n", p.name, p.full)
	}
}
