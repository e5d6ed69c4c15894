package load

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// heapLimit is the size of the heap from which on Go collects garbage. The load itself makes no
// garbage; its output between slots and the comparing of /compute bodies make some.
const heapLimit = 256 << 20

// A Loader holds the connections of a plan, and loads its targets in turns. One goroutine uses it.
type Loader struct {
	plan    *Plan
	options Options
	clock   clock
	timeout int64 // ns
	targets []*target
	threads []*thread
	started time.Time
	before  struct { // what the process had set
		garbage, cores int
		heap           int64
	}
	failure error // after which there are no more turns
	full    bool  // whether this slot has called Options.Full
	count   atomic.Bool

	// Of the turn. The first thread leads: besides its own work it decides which phase all are in.
	slot         Slot
	number       int // of the slot
	fillBegan    int64
	deadline     int64 // of the phase, ns
	drainTime    int64 // the longest
	window, turn [2]edge
	report       SlotReport

	// What the first thread tells the others. The loader writes all above before the phase.
	phase         atomic.Int32
	begin, finish atomic.Int64 // of the counted window, ns
	stopped       atomic.Bool
	// What the others tell it.
	ready      atomic.Int32 // threads that have finished the phase
	pending    atomic.Int64 // connections without an answer in this slot
	living     atomic.Int64 // connections of the slot's target that are not lost
	lastAnswer atomic.Int64 // ns
}

var errStopped = errors.New("ended by a signal; nothing was measured")

// New opens all connections of a plan. An error is one of the plan, in one line that names the
// field, or ErrNotReached where nothing listens.
func New(ctx context.Context, p *Plan, o Options) (*Loader, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	l := &Loader{plan: p, options: o, clock: newClock(), timeout: int64(p.Timeout()), deadline: farOff}
	l.phase.Store(over)
	if err := l.open(ctx); err != nil {
		l.free()
		return nil, err
	}
	l.before.garbage, l.before.heap = debug.SetGCPercent(-1), debug.SetMemoryLimit(heapLimit)
	l.before.cores = runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), len(l.threads)))
	runtime.GC() // the garbage made so far must not count towards the limit
	for _, w := range l.threads {
		go w.run()
		<-w.done // it knows its own number
	}
	l.started = time.Now().Round(0)
	return l, nil
}

// open makes threads, targets and lanes, and opens all connections. After an error, too, what it opened has
// to be freed.
func (l *Loader) open(ctx context.Context) error {
	widest := 0
	for _, asked := range l.plan.Targets {
		t, err := newTarget(asked, l.plan.Seed, l.options)
		if err != nil {
			return fmt.Errorf("target %q: %w", asked.Name, err)
		}
		l.targets = append(l.targets, t)
		widest = max(widest, t.Connections)
	}
	n := cmp.Or(l.plan.Threads, runtime.NumCPU()) // or one for each core that the process's affinity allows
	for i := range min(n, widest) {
		if err := l.addThread(i); err != nil {
			return err
		}
	}
	for i := range l.targets {
		if err := l.connect(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func newTarget(asked Target, seed uint64, o Options) (*target, error) {
	u, err := url.Parse(asked.URL)
	if err == nil {
		asked.Requests, err = asked.Asked()
	}
	if err != nil {
		return nil, err
	}
	t := &target{Target: asked, host: u.Host, options: o}
	t.addr = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), u.Scheme))
	if t.secure, err = asked.TLS(); err != nil {
		return nil, err
	}
	switch {
	case asked.Protocol == HTTP2 && o.HTTP2 == nil:
		return nil, errors.New("it is to be asked in HTTP/2, and Options.HTTP2 is missing")
	case asked.Stream && o.Stream == nil:
		return nil, errors.New("it is a stream, and Options.Stream is missing")
	case asked.Answers != "" && o.Bodies == nil:
		return nil, fmt.Errorf("Options.Bodies is missing, which knows what %q answers", asked.Answers)
	case asked.Answers != "":
		if t.answers, err = o.Bodies(asked); err != nil {
			return nil, err
		}
	}
	t.mix = newMix(asked.Requests, u.Host, asked.Close, seed, asked.Pipelining)
	return t, nil
}

func (l *Loader) addThread(id int) (err error) {
	w := &thread{load: l, id: id, phase: over, buffer: make([]byte, bufferSize), plain: make([]byte, bufferSize),
		turns: make(chan struct{}), done: make(chan error)}
	if w.poller, err = newPoller(); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	l.threads = append(l.threads, w)
	if w.wakeFD, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	for _, t := range l.targets {
		a := &lane{target: t, paced: t.Rate > 0, lag: NewHistogram(), unsent: NewHistogram()}
		a.sum.Statuses = map[int]int64{}
		for n := range t.mix.requests {
			r, known := &t.mix.requests[n], t.answers
			if r.Check.OfBody() {
				known = r.Check
			}
			k := kind{nth: n, heads: headCache{of: r}, comparer: comparer{set: known}, latency: NewHistogram()}
			if known != nil {
				k.comparer.share = known.Share()
			}
			if len(t.mix.requests) > 1 {
				k.label = r.Label() + ": "
			}
			a.kinds = append(a.kinds, k)
		}
		w.lanes = append(w.lanes, a)
	}
	return w.poller.watch(int32(w.wakeFD), wakeIndex, 0)
}

// connect opens the connections of a target, dealing them out to the threads in turn.
func (l *Loader) connect(ctx context.Context, i int) error {
	t := l.targets[i]
	for n := range t.Connections {
		if ctx.Err() != nil {
			return errStopped
		}
		w := l.threads[n%len(l.threads)]
		a := w.lanes[i]
		next := n * len(t.mix.order) / t.Connections
		if t.Stream { // each request on as many connections as any other
			next = slices.Index(t.mix.order, uint8(n%len(t.mix.requests)))
		}
		c := &connection{fd: -1, index: int32(len(w.conns)), lane: a, flights: make([]flight, t.Pipelining),
			next: next, at: t.mix.ends[next]}
		w.conns = append(w.conns, c)
		a.conns = append(a.conns, c)
		a.living++
		if err := w.connect(c); err != nil {
			if errors.Is(err, syscall.ECONNREFUSED) || t.Unix != "" && errors.Is(err, syscall.ENOENT) {
				err = fmt.Errorf("%w: %w", ErrNotReached, err)
			}
			return fmt.Errorf("target %q, %s, connection %d: %w", t.Name, cmp.Or(t.Unix, t.URL), n+1, err)
		}
		w.listen(c)
	}
	for _, w := range l.threads {
		a := w.lanes[i]
		a.paced = a.paced && len(a.conns) > 0
		a.schedule = newSchedule(t.Rate, w.id, min(len(l.threads), t.Connections))
	}
	return nil
}

// free closes all that was opened.
func (l *Loader) free() {
	for _, w := range l.threads {
		for _, c := range w.conns {
			unix.Close(int(c.fd)) // or it is closed already, and -1
		}
		w.poller.close()
		unix.Close(w.wakeFD)
	}
}

// Turn loads one target: it fills the slot, counts, and drains. When it returns nothing is in
// flight, and the connections stay open. Servers that stall, die or answer wrongly are no
// error: the report and the summary have their faults. After an error, such as that ctx was
// done, there are no more turns.
func (l *Loader) Turn(ctx context.Context, s Slot) (SlotReport, error) {
	if err := s.check(len(l.targets)); err != nil {
		return SlotReport{}, fmt.Errorf("the slot: %w", err)
	}
	if l.failure == nil && l.start(s) {
		stop := context.AfterFunc(ctx, func() {
			l.stopped.Store(true)
			l.threads[0].wake()
		})
		for _, w := range l.threads {
			w.turns <- struct{}{}
		}
		for _, w := range l.threads {
			l.failure = errors.Join(l.failure, <-w.done)
		}
		stop()
		if l.failure == nil && l.stopped.Load() {
			l.failure = errStopped
		}
	}
	return l.report, l.failure
}

// Count begins to count in a slot that is filled: see Options.Full.
func (l *Loader) Count() {
	l.count.Store(true)
	l.threads[0].wake()
}

// Close closes the connections, and adds up what came of all turns.
func (l *Loader) Close() Summary {
	for _, w := range l.threads {
		close(w.turns)
		<-w.done
	}
	s := Summary{Threads: len(l.threads), Start: l.started.UTC(), Finish: time.Now().Round(0).UTC()}
	for i := range l.targets {
		s.Targets = append(s.Targets, l.summary(i))
	}
	l.free()
	debug.SetMemoryLimit(l.before.heap)
	debug.SetGCPercent(l.before.garbage)
	runtime.GOMAXPROCS(l.before.cores)
	return s
}

// summary adds up the counts of all threads, after they have ended.
func (l *Loader) summary(i int) TargetSummary {
	t := l.targets[i]
	sum := TargetSummary{Name: t.Name, Requests: t.requests, Bytes: t.bytes, Histogram: NewHistogram(), Statuses: map[int]int64{}}
	for n := range t.mix.requests {
		one, latency := RequestSummary{Name: t.mix.requests[n].Label()}, NewHistogram()
		for _, w := range l.threads {
			k := &w.lanes[i].kinds[n]
			wrong, fault, changes := k.comparer.result()
			one.Unexpected += k.unexpected
			one.Lost += k.lost
			one.Mismatches += wrong
			one.Compared += k.comparer.compared
			latency.Merge(k.latency)
			sum.Varies = sum.Varies || changes
			if fault != "" && sum.Mismatch == "" {
				sum.Mismatch = k.label + fault
			}
		}
		sum.Histogram.Merge(latency)
		if one.Latency = latency.Latency(); len(l.plan.Targets[i].Requests) > 0 {
			sum.ByRequest = append(sum.ByRequest, one)
		}
		sum.Mismatches += one.Mismatches
		sum.Compared += one.Compared
	}
	lag, first := NewHistogram(), farOff
	for _, w := range l.threads {
		a := w.lanes[i]
		for _, c := range a.conns {
			if c.state == isOpen {
				sum.Open++
			}
		}
		sum.Answered += a.sum.Requests + a.sum.Non2xx
		sum.Non2xx += a.sum.Non2xx
		sum.Errors += a.sum.Errors
		sum.Timeouts += a.sum.Timeouts
		sum.Resets += a.sum.Resets
		sum.Reopened += a.sum.Reopened
		sum.Crossed += a.sum.Crossed
		sum.Unanswered += a.sum.Unanswered
		for status, n := range a.sum.Statuses {
			sum.Statuses[status] += n
		}
		if a.sum.Fault != "" && a.faultAt < first {
			first, sum.Fault = a.faultAt, a.sum.Fault
		}
		lag.Merge(a.lag)
		sum.Histogram.Merge(a.unsent)
	}
	sum.Latency, sum.SendLag, sum.Lags = sum.Histogram.Latency(), lag.Latency(), lag
	return sum
}

// Run carries out a plan. It returns when all slots have ended, or with an error: one of the
// plan, in one line that names the field; ErrNotReached where nothing listens; or that of ctx,
// without a report. Servers that stall, die or answer wrongly are no error: the report has
// their faults.
func Run(ctx context.Context, p *Plan, o Options) (*Report, error) {
	l, err := New(ctx, p, o)
	if err != nil {
		return nil, err
	}
	r := &Report{Slots: make([]SlotReport, len(p.Slots))}
	for i := 0; i < len(p.Slots) && err == nil; i++ {
		r.Slots[i], err = l.Turn(ctx, p.Slots[i])
	}
	if r.Summary = l.Close(); err != nil {
		return nil, err
	}
	return r, nil
}

// Serve carries out what an input asks: the first value of JSON is a plan, and each further one a Slot,
// behind those of the plan. It answers each slot with a line of JSON, a SlotReport, and the end of the
// input with another, the Summary.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	var p Plan
	input, output := json.NewDecoder(in), json.NewEncoder(out)
	input.DisallowUnknownFields()
	if err := input.Decode(&p); err != nil {
		return fmt.Errorf("the plan: %w", err)
	}
	l, err := New(ctx, &p, o)
	if err != nil {
		return err
	}
	turn := func(s Slot) error {
		r, err := l.Turn(ctx, s)
		if err == nil {
			err = output.Encode(r)
		}
		return err
	}
	for i := 0; i < len(p.Slots) && err == nil; i++ {
		err = turn(p.Slots[i])
	}
	told := make(chan error)
	var s Slot
	for err == nil {
		s = Slot{}
		go func() { told <- input.Decode(&s) }() // nothing can stop reading
		select {
		case <-ctx.Done():
			err = errStopped
		case err = <-told:
			if err == nil {
				err = turn(s)
			}
		}
	}
	if sum := l.Close(); errors.Is(err, io.EOF) {
		return output.Encode(sum)
	}
	return err
}
