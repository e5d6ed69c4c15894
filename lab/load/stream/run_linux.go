package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A run carries out one plan.
type run struct {
	plan    *Plan
	origin  time.Time // from which times count, in nanoseconds
	threads []*thread
	pending atomic.Int64 // connections of which nothing is known yet
	begin   atomic.Int64 // of the window; 0: not known yet
	stopped atomic.Bool
}

// A route is where a connection leads, and from where.
type route struct{ to, from unix.Sockaddr }

// now is the time since the origin. It is never 0, which says that there was none.
func (r *run) now() int64 { return int64(time.Since(r.origin)) + 1 }

// Run carries out a plan. An error is one of the plan or of this machine, or that ctx was done;
// there is no report then.
func Run(ctx context.Context, p *Plan) (*Report, error) {
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	r := &run{plan: p, origin: time.Now()}
	defer r.close()
	n := min(max(p.Threads, 1), p.Connections)
	for i := range n {
		w, err := r.newThread(i, n)
		if err != nil {
			return nil, err
		}
		r.threads = append(r.threads, w)
	}
	r.pending.Store(int64(p.Connections))
	// The threads keep theirs for themselves, and others need one too.
	if runtime.GOMAXPROCS(0) <= n {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n + 1))
	}
	defer context.AfterFunc(ctx, func() { r.stopped.Store(true) })()
	errs := make([]error, n)
	var running sync.WaitGroup
	for i, w := range r.threads {
		running.Go(func() {
			if errs[i] = w.carryOut(); errs[i] != nil {
				r.stopped.Store(true)
			}
		})
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r.report(), nil
}

func (r *run) close() {
	for _, w := range r.threads {
		for i := range w.conns {
			if fd := w.conns[i].fd; fd >= 0 {
				unix.Close(int(fd))
			}
		}
		unix.Close(w.epoll)
	}
}

// routes resolves addresses. Each of the server is reached from each of the client's.
func (p *Plan) routes() (all []route, err error) {
	locals := []unix.Sockaddr{nil}
	if len(p.Locals) > 0 {
		locals = nil
	}
	for _, text := range p.Locals {
		locals = append(locals, sockaddr(&net.TCPAddr{IP: net.ParseIP(text)}))
	}
	for _, from := range locals {
		for _, text := range p.Addresses {
			if strings.Contains(text, "/") {
				all = append(all, route{to: &unix.SockaddrUnix{Name: text}})
				continue
			}
			tcp, err := net.ResolveTCPAddr("tcp", text)
			if err != nil {
				return nil, fmt.Errorf("addresses: %w", err)
			}
			all = append(all, route{sockaddr(tcp), from})
		}
	}
	return all, nil
}

func sockaddr(a *net.TCPAddr) unix.Sockaddr {
	if ip := a.IP.To4(); ip != nil || a.IP == nil {
		return &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(append(ip, 127, 0, 0, 1)[:4])}
	}
	return &unix.SockaddrInet6{Port: a.Port, Addr: [16]byte(a.IP.To16())}
}

// report adds up what the threads counted, after they have ended.
func (r *run) report() *Report {
	first := r.threads[0]
	s := &Report{Begin: r.origin.Add(time.Duration(first.beginAt)), Seconds: float64(first.finishAt-first.beginAt) / 1e9,
		CPUSeconds: float64(first.finishCPU-first.beginCPU) / 1e9,
		Paths:      make([]PathReport, len(r.plan.Paths)), Connections: make([]ConnectionReport, r.plan.Connections),
		Faults: []Fault{}}
	whole := newTimes()
	told := len(s.Paths) <= MaxTimed
	for i := range s.Paths {
		s.Paths[i].Path = r.plan.Paths[i]
		times := whole
		if told {
			times = newTimes()
		}
		for _, w := range r.threads {
			p := &w.paths[i]
			s.Paths[i].Whole.add(p.Counts, 1)
			s.Paths[i].Window.add(p.atFinish, 1)
			s.Paths[i].Window.add(p.atBegin, -1)
			if told || i == 0 {
				times.merge(p.times)
			}
		}
		if told {
			s.Paths[i].Times = times.raw()
			whole.merge(times)
		}
		s.Whole.add(s.Paths[i].Whole, 1)
		s.Window.add(s.Paths[i].Window, 1)
	}
	s.Times = whole.raw()
	for _, w := range r.threads {
		for i := range w.conns {
			c := &w.conns[i]
			s.Connections[c.number] = ConnectionReport{Path: c.number % len(s.Paths), Events: c.events, IDs: c.ids.n,
				FirstID: c.ids.first, LastID: c.ids.last, Open: c.wasOpen, Stalled: c.state == isStalled}
			if c.wasOpen {
				s.Open++
				s.Paths[c.number%len(s.Paths)].Open++
			}
		}
	}
	if s.Window.Events == 0 {
		first.fault(nil, Silent, fmt.Errorf("no event in %.3f s, and %d connections open at their end", s.Seconds, s.Open))
	}
	for _, kind := range []string{Refused, Reset, Timeout, Malformed, Silent, Status, ContentType, TooLarge} {
		f := Fault{Kind: kind}
		at := int64(math.MaxInt64)
		for _, w := range r.threads {
			if of, ok := w.faults[kind]; ok {
				f.N += of.n
				if of.at < at {
					at, f.First = of.at, of.first
				}
			}
		}
		if f.N > 0 {
			s.Faults = append(s.Faults, f)
		}
	}
	return s
}

// request is what a connection asks for.
func (p *Plan) request(path string, lastID []byte) []byte {
	b := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nCache-Control: no-store\r\n",
		path, p.host())
	if len(lastID) > 0 {
		b = fmt.Appendf(b, "Last-Event-ID: %s\r\n", lastID)
	}
	return append(b, "\r\n"...)
}

func (p *Plan) retry() time.Duration   { return cmp.Or(p.Retry, time.Second) }
func (p *Plan) nap() time.Duration     { return cmp.Or(p.Nap, DefaultNap) }
func (p *Plan) timeout() time.Duration { return cmp.Or(p.Timeout, 10*time.Second) }
