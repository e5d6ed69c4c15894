package run

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
)

// A holding is the set of sockets that the client had open at a time, by inode.
// A new connection has a new inode, so reconnects show. The client's own list
// of open files is read because the kernel's counters of opened connections
// count every program's.
type holding struct {
	from, to time.Time // while the list was read
	inodes   map[string]bool
}

// A socketWatch looks at the client's sockets during a trial. Where the server
// ends a connection in mid-answer, autocannon opens a new one without reporting
// it.
type socketWatch struct {
	connections int
	stop, done  chan struct{}
	all         []holding
	held        proc.Held // what the server's processes held once the client had all its connections
}

// How often the client's sockets are listed: listing a hundred takes two tenths
// of a millisecond. Thousands are listed less often, but a few times in the
// window in any case.
const (
	socketsEvery = 100 * time.Millisecond
	socketsShare = 200 // pause after a look, in multiples of the look's duration
)

// watchSockets lists the sockets of a process and its descendants. In the middle of the
// window, which follows a warm-up, it takes a census of the server.
func watchSockets(client, connections int, warmup, window time.Duration, census func() proc.Held) *socketWatch {
	began := time.Now()
	s := &socketWatch{connections: connections, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		var pids []int
		counted := false
		for {
			// The client may still be starting the processes that open connections.
			if n := len(s.all); n == 0 || len(s.all[n-1].inodes) < connections {
				pids = proc.Descendants(client)
			}
			h := look(pids)
			s.all = append(s.all, h)
			// A client without all its connections may still be opening them.
			if all := len(h.inodes) >= connections; !counted && h.to.Sub(began) > warmup+window/2 {
				s.held, counted = census(), all
			}
			select {
			case <-s.stop:
				return
			case <-time.After(min(max(socketsEvery, socketsShare*h.to.Sub(h.from)), max(window/5, socketsEvery))):
			}
		}
	}()
	return s
}

// look lists the open sockets of processes.
func look(pids []int) holding {
	h := holding{from: time.Now(), inodes: map[string]bool{}}
	for _, pid := range pids {
		for _, socket := range proc.Sockets(pid) { // a process that has ended has none, and the missing sockets show
			h.inodes[socket] = true
		}
	}
	h.to = time.Now()
	return h
}

// end stops the watch. There may be none.
func (s *socketWatch) end() {
	if s != nil {
		close(s.stop)
		<-s.done
	}
}

// warmupClosedWithin is how long after the window's begin all sockets of the warm-up,
// which autocannon closes just before, are surely gone.
const warmupClosedWithin = 50 * time.Millisecond

// judge closes the gate on connections that were opened between the first and
// the last look within the measured window. A reconnect in the fraction of a
// second before the first or after the last is not seen.
func (s *socketWatch) judge(r *generator.Result, fail failer) {
	var in []holding
	for _, h := range s.all {
		if h.from.After(r.Start.Add(warmupClosedWithin)) && h.to.Before(r.Finish) &&
			(len(in) > 0 || len(h.inodes) >= s.connections) {
			in = append(in, h)
		}
	}
	if len(in) < 2 {
		fail(gate.NoTelemetry, "the client's %d connections were not seen twice in the measured window, so that none can "+
			"be said to have lasted", s.connections)
		return
	}
	anew := 0
	for inode := range in[len(in)-1].inodes {
		if !in[0].inodes[inode] {
			anew++
		}
	}
	if anew > 0 {
		fail(gate.Resets, "%d of the client's %d connections were opened anew within the measured window: the server had "+
			"ended them", anew, s.connections)
	}
}
