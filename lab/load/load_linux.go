package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A load carries out one plan.
type load struct {
	plan    *Plan
	options Options
	clock   clock
	pid     int
	timeout int64 // ns
	targets []*target
	threads []*thread
	leader  *leader
	failure error // the error that ended the load early
	slot    Slot  // of this turn

	// What the leader tells the threads. slot and fillBegan are written before stage.
	stage         atomic.Uint64
	fillBegan     int64
	drainTime     int64        // written before stage
	begin, finish atomic.Int64 // of the counted window, ns
	stopped       atomic.Bool
	// What the threads tell the leader.
	ready      atomic.Int32 // threads that have finished the phase
	pending    atomic.Int64 // connections without an answer in this slot
	living     atomic.Int64 // connections of the slot's target that are not lost
	lastAnswer atomic.Int64 // ns
}

// counts says whether the latency counts of a request that was sent then, or that was due
// then in an open loop. It is that of the answer, whenever that comes: were answers within
// the window counted in place of requests, the longest latencies would be left out.
func (l *load) counts(due int64) bool { return due >= l.begin.Load() && due < l.finish.Load() }

// abort ends all threads after one of them failed.
func (l *load) abort() {
	l.stopped.Store(true) // so that a leader that still runs stops
	l.stage.Store(over)
	for _, w := range l.threads {
		w.wake()
	}
}

// open makes threads, targets and lanes, and opens what the edges read and all connections. After
// an error, too, the load has to be closed.
func (l *load) open(ctx context.Context) error {
	widest := 0
	for _, asked := range l.plan.Targets {
		t, err := newTarget(asked, l.plan.Seed, l.options)
		if err != nil {
			return fmt.Errorf("target %q: %w", asked.Name, err)
		}
		l.targets = append(l.targets, t)
		widest = max(widest, t.Connections)
	}
	n := cmp.Or(l.plan.Threads, runtime.NumCPU()) // one for each core that the process's affinity allows
	for i := range min(n, widest) {
		if err := l.addThread(i); err != nil {
			return err
		}
	}
	g := &gauges{load: l}
	err := g.open()
	l.leader = &leader{load: l, gauges: g, failed: make([]string, len(l.targets)), deadline: farOff, phase: over,
		edges: [2]edge{g.newEdge(), g.newEdge()}, turn: [2]edge{g.newEdge(), g.newEdge()}}
	l.threads[0].leader = l.leader
	if err != nil {
		return err
	}
	return l.connect(ctx)
}

func newTarget(asked Target, seed uint64, o Options) (*target, error) {
	u, err := url.Parse(asked.URL)
	if err == nil {
		asked.Requests, err = asked.Asked()
	}
	if err != nil {
		return nil, err
	}
	t := &target{Target: asked, host: u.Host, sessions: o.HTTP2, events: o.Events}
	if t.addrs, err = addresses(asked, u); err != nil {
		return nil, err
	}
	if t.secure, err = asked.TLS(); err != nil {
		return nil, err
	}
	if asked.Protocol == HTTP2 && o.HTTP2 == nil {
		return nil, errors.New("it is to be asked in HTTP/2, and Options.HTTP2 is missing")
	}
	if asked.Protocol == EventStream && (o.Events == nil || asked.Rate > 0) {
		return nil, errors.New("it is a stream of events: it has no rate, and needs Options.Events")
	}
	if asked.Answers != "" {
		if o.Bodies == nil {
			return nil, fmt.Errorf("nobody says what %q answers", asked.Answers)
		}
		if t.answers, err = o.Bodies(asked); err != nil {
			return nil, err
		}
	}
	t.mix = newMix(asked.Requests, u.Host, asked.Close, seed, asked.Pipelining)
	return t, nil
}

func (l *load) addThread(id int) (err error) {
	w := &thread{load: l, id: id, phase: over, buffer: make([]byte, bufferSize), turns: make(chan struct{}), done: make(chan error)}
	if w.poller, err = newPoller(); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	l.threads = append(l.threads, w)
	if w.wakeFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	for i, t := range l.targets {
		if t.secure != nil && w.plain == nil {
			w.plain = make([]byte, bufferSize)
		}
		a := &lane{target: t, paced: t.Rate > 0}
		for n := range t.mix.requests {
			draws := uint64((n*l.plan.Threads+id)*len(l.targets) + i)
			a.kinds = append(a.kinds, newKind(&t.mix.requests[n], t.answers, draws))
		}
		if a.paced {
			a.lag, a.unsent = NewHistogram(), NewHistogram()
		}
		w.lanes = append(w.lanes, a)
	}
	return w.poller.watch(int32(w.wakeFD), wakeIndex, 0)
}

// connect opens all connections of all targets, dealing them out to the threads in turn.
func (l *load) connect(ctx context.Context) error {
	for i, t := range l.targets {
		for n := range t.Connections {
			if err := ctx.Err(); err != nil {
				return errStopped
			}
			fd, err := t.dial()
			if errors.Is(err, syscall.ECONNREFUSED) || t.Unix != "" && errors.Is(err, syscall.ENOENT) {
				err = fmt.Errorf("%w: %w", ErrNotReached, err)
			}
			w := l.threads[n%len(l.threads)]
			a := w.lanes[i]
			c := &connection{fd: fd, index: int32(len(w.conns)), lane: a, times: make([]int64, t.Pipelining),
				next: n * len(t.mix.order) / t.Connections}
			w.lose(c) // nothing yet; it begins at its place
			w.conns = append(w.conns, c)
			if err == nil && t.channeled() {
				if c.channel, err = t.newChannel(); err == nil {
					err = c.channel.await(fd, w.buffer)
				}
			}
			if err != nil {
				return fmt.Errorf("target %q, %s, connection %d: %w", t.Name, cmp.Or(t.Unix, t.URL), n+1, err)
			}
			a.conns = append(a.conns, c)
			a.living++
			if err := w.poller.watch(fd, c.index, 0); err != nil {
				return fmt.Errorf("epoll: %w", err)
			}
		}
		for _, w := range l.threads {
			if a := w.lanes[i]; a.paced {
				a.paced = len(a.conns) > 0
				a.room = make([]*connection, len(a.conns))
				a.schedule = newSchedule(t.Rate, w.id, min(len(l.threads), t.Connections))
			}
		}
	}
	return nil
}

// close frees all that was opened.
func (l *load) close() {
	for _, w := range l.threads {
		for _, c := range w.conns {
			if c.fd >= 0 {
				unix.Close(int(c.fd))
			}
		}
		w.poller.close()
		unix.Close(w.wakeFD)
	}
	if l.leader != nil {
		l.leader.gauges.close()
	}
}
