package peers

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

var (
	rounds = flag.Int("rounds", 7, "how often each peer has its turn")
	slice  = flag.Duration("slice", 25*time.Millisecond, "how long a turn lasts, roughly, when adding")
	window = flag.Duration("window", 150*time.Millisecond, "how long a turn lasts when delivering")
	paced  = flag.Duration("paced", 500*time.Millisecond, "how long a turn lasts at a fixed rate")
)

func BenchmarkBesidePeers(b *testing.B) {
	if *rounds < 1 || *slice <= 0 || *window <= 0 || *paced <= 0 {
		b.Fatal("-rounds, -slice, -window and -paced have to be above zero")
	}
	fmt.Printf("\nEvents of 56 bytes, batches of %d, queue of %d; %s, %d processors; %d rounds, in each of which all "+
		"take turns\n", count, capacity, runtime.Version(), runtime.GOMAXPROCS(0), *rounds)
	enqueueing(os.Stdout, *rounds, *slice)
	delivering(os.Stdout, *rounds, *window)
	pacing(os.Stdout, *rounds, *paced)
	fmt.Println("\nWhen there is no room, an event")
	for _, p := range peers {
		fmt.Printf("  %-24s %s\n", p.name, p.full)
	}
}
