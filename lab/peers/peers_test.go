package peers

import (
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

// A collector is a sink that keeps the number of each event.
type collector struct {
	mu      sync.Mutex
	hold    chan struct{} // if set, nothing is taken before it is closed
	events  int
	numbers []uint64
}

func (c *collector) take(events int, body func([]byte) []byte) {
	if c.hold != nil {
		<-c.hold
	}
	b := body(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events += events
	for e := range slices.Chunk(b, eventBytes) {
		c.numbers = append(c.numbers, binary.LittleEndian.Uint64(e))
	}
}

// The tables are right about losses: peers that wait lose nothing, and those that do not
// wait lose what there is no room for.
func TestWhatIsLost(t *testing.T) {
	if unsafe.Sizeof(event{}) != eventBytes {
		t.Fatalf("an event has %d bytes", unsafe.Sizeof(event{}))
	}
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			events := 5 * capacity / 2
			if p.each {
				events = 100 // each that a producer adds takes a millisecond
			}
			c := &collector{}
			if p.lose {
				c.hold = make(chan struct{})
			}
			q := p.queues(c, 8)
			produce(q, events)
			if p.lose {
				close(c.hold)
			}
			q.close()
			if len(c.numbers) != c.events {
				t.Errorf("%d events were counted and %d sent", c.events, len(c.numbers))
			}
			if p.lose {
				if c.events >= events {
					t.Errorf("all %d events came through", events)
				}
				return
			}
			slices.Sort(c.numbers)
			distinct := len(slices.Compact(c.numbers))
			if p.name == "OpenTelemetry spans" {
				distinct = c.events // the events carry no numbers
			}
			if c.events != events || distinct != events {
				t.Errorf("of %d events %d came, %d of them distinct", events, c.events, distinct)
			}
		})
	}
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	v := newTable()
	for _, base := range []float64{1, 10, 2} {
		for i := range peers {
			v.add(i, base*float64(i+1))
		}
	}
	if v.ratio(3) != 4 || v.leastRatio(3) != 4 || v.median(3) != 8 || v.least(3) != 4 {
		t.Errorf("ratios %v of %v", v.ratios(3), v[3])
	}
}

func TestRoundsBeginWithEachInTurn(t *testing.T) {
	var order []int
	round(2, func(i int) { order = append(order, i) })
	n := len(peers)
	if len(order) != 2*n || order[0] != 0 || order[n] != 1 || order[2*n-1] != 0 {
		t.Errorf("order %v", order)
	}
}
