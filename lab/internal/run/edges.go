package run

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// The edges of a plan's slots are when they begin and end to count. The clients of
// a fleet count by their own clocks; what the servers used meanwhile is read here,
// at the same times by this host's clock. How late it was read is a figure.
type edges struct {
	plan  *httpload.Plan
	pids  []int   // of all servers, each once
	of    [][]int // by target: the indices of its processes in pids
	files []*os.File
	at    []edge // two for each slot of the plan; a time of 0: not read
	over  atomic.Bool
	done  chan struct{}
}

// An edge is what was read at one of them.
type edge struct {
	ns       int64
	cpu      []int64 // CPU time in ns by process; -1: cannot be read
	counters []int64 // of the interface, as in counted; nil: not read
}

// counted are the interface's counters that are read, in this order.
var counted = []string{"tx_bytes", "tx_packets", "rx_bytes", "rx_packets", "tx_dropped"}

const (
	// aheadOfEdge is how long before an edge its reader stops to sleep as others do.
	// The rest of the time it waits without letting go of its turn, since it might
	// wait for the next one until after the edge.
	aheadOfEdge = 2 * time.Millisecond
	// nap bounds a sleep, so that the reader soon sees that it is to end.
	nap = 100 * time.Millisecond
)

// watchEdges begins to read at all edges of a plan whose slots have times.
func (g *group) watchEdges(p *httpload.Plan) *edges {
	e := &edges{plan: p, at: make([]edge, 2*len(p.Slots)), done: make(chan struct{})}
	for _, t := range p.Targets {
		places := []int{}
		for _, pid := range t.Processes {
			at := slices.Index(e.pids, pid)
			if at < 0 {
				at, e.pids = len(e.pids), append(e.pids, pid)
			}
			places = append(places, at)
		}
		e.of = append(e.of, places)
	}
	for i := range e.at {
		e.at[i].cpu = make([]int64, len(e.pids))
	}
	if device := g.loads[0].link.NetDevice; device != "" && device != "lo" {
		for _, name := range counted {
			f, err := os.Open(filepath.Join("/sys/class/net", device, "statistics", name))
			if err != nil {
				e.close()
				break
			}
			e.files = append(e.files, f)
		}
	}
	go e.read()
	return e
}

func (e *edges) close() {
	for _, f := range e.files {
		f.Close()
	}
	e.files = nil
}

// stop ends the reading, and waits for it. It may be called twice.
func (e *edges) stop() {
	e.over.Store(true)
	<-e.done
}

func (e *edges) read() {
	defer close(e.done)
	defer e.close()
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
	hasten()
	text := make([]byte, 32)
	for i, s := range e.plan.Slots {
		if !s.Counts {
			continue
		}
		for k, at := range []int64{s.AtNS, s.AtNS + httpload.NS(s.Seconds)} {
			if !e.until(at) {
				return
			}
			e.one(&e.at[2*i+k], s.Target, text)
		}
	}
}

// one reads an edge, beginning with what the target's own figures need.
func (e *edges) one(into *edge, target int, text []byte) {
	into.ns = fleet.Monotonic()
	for _, i := range e.of[target] {
		into.cpu[i] = cpuOf(e.pids[i])
	}
	for i, pid := range e.pids {
		if !slices.Contains(e.of[target], i) {
			into.cpu[i] = cpuOf(pid)
		}
	}
	for _, f := range e.files {
		n, _ := f.ReadAt(text, 0)
		v, err := strconv.ParseInt(string(bytes.TrimSpace(text[:n])), 10, 64)
		if err != nil {
			into.counters = nil
			return
		}
		into.counters = append(into.counters, v)
	}
}

func cpuOf(pid int) int64 {
	t, ok := cores.ProcessTime(pid)
	if !ok {
		return -1
	}
	return int64(t)
}

// until sleeps until a time; false if the reading is to end.
func (e *edges) until(at int64) bool {
	for left := at - fleet.Monotonic(); left > 0; left = at - fleet.Monotonic() {
		if e.over.Load() {
			return false
		}
		switch sleep := time.Duration(left) - aheadOfEdge; {
		case sleep > 0:
			time.Sleep(min(sleep, nap))
		default:
			hold(at)
		}
	}
	return !e.over.Load()
}

// fill adds to a merged report what was read at the edges of its slots.
func (e *edges) fill(r *httpload.Report) {
	for i := range r.Slots {
		s := &r.Slots[i]
		if s.Failed != "" || !e.plan.Slots[i].Counts {
			continue
		}
		a, b := &e.at[2*i], &e.at[2*i+1]
		used := func(k int) float64 {
			if a.ns == 0 || b.ns == 0 || a.cpu[k] < 0 || b.cpu[k] < a.cpu[k] {
				s.Unread = append(s.Unread, e.pids[k])
				return 0
			}
			return float64(b.cpu[k]-a.cpu[k]) / 1e9
		}
		s.ServerCPUS, s.IdleCPUS = []float64{}, 0
		for _, k := range e.of[s.Target] {
			s.ServerCPUS = append(s.ServerCPUS, used(k))
		}
		for k := range e.pids {
			if !slices.Contains(e.of[s.Target], k) {
				s.IdleCPUS += used(k)
			}
		}
		if d := between(a, b); d != nil {
			s.Wire = &httpload.WireReport{TxBytes: d[0], TxPackets: d[1], RxBytes: d[2], RxPackets: d[3], Drops: d[4]}
		}
	}
}

// between is what an interface counted between two edges; nil if it was not read,
// or counted backwards.
func between(a, b *edge) (d []int64) {
	if len(a.counters) != len(counted) || len(b.counters) != len(counted) {
		return nil
	}
	for i := range counted {
		if b.counters[i] < a.counters[i] {
			return nil
		}
		d = append(d, b.counters[i]-a.counters[i])
	}
	return d
}

// late is the latest that an edge of a target's counted slots was read.
func (e *edges) late(target int) (s float64) {
	for i, slot := range e.plan.Slots {
		if slot.Target != target || !slot.Counts {
			continue
		}
		for k, due := range []int64{slot.AtNS, slot.AtNS + httpload.NS(slot.Seconds)} {
			if at := e.at[2*i+k].ns; at > 0 {
				s = max(s, float64(at-due)/1e9)
			}
		}
	}
	return s
}
