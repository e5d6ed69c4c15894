package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/journal"
)

// A Server is the server's host of a run, as the lab that measures there sees the
// rest of the fleet: through the host that started the run. It has the Clients of the run.
type Server struct {
	conn   *conn
	end    context.CancelCauseFunc
	hellos []Hello
	first  chan []Hello

	mu    sync.Mutex
	last  int64 // id of a load
	loads map[int64]*running
	lost  map[int]Lost
	offer offer
}

// Gone is why a run ends whose controller says nothing any more.
type Gone struct{ Why error }

func (g Gone) Error() string {
	return fmt.Sprintf("the host that started the run is gone (%v)", g.Why)
}

func (g Gone) Unwrap() error { return g.Why }

// ErrAsked is why a run ends whose controller asked for its end.
var ErrAsked = errors.New("the host that started the run asked for its end")

// Serve begins to talk to the host that started the run. The context that it
// returns ends with that host: with Gone, or ErrAsked.
func Serve(ctx context.Context, in io.Reader, out io.WriteCloser) (*Server, context.Context) {
	ctx, end := context.WithCancelCause(ctx)
	s := &Server{end: end, first: make(chan []Hello, 1),
		loads: map[int64]*running{}, lost: map[int]Lost{}}
	now, _ := clock()
	s.conn = newConn(out, now)
	s.conn.begin(in, func(f received) error { return s.handle(f.frame) })
	context.AfterFunc(s.conn.open, func() {
		end(Gone{s.conn.reason()})
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, r := range s.loads {
			r.finish(Seen{RxBytes: -1, TxBytes: -1}, Lost{r.client, "the host that started the run is gone"})
		}
	})
	return s, ctx
}

// Asked waits for what the host that started the run asks.
func (s *Server) Asked(ctx context.Context) (Asked, error) {
	select {
	case a := <-s.conn.asked:
		if a.Version != protocol {
			s.conn.send(frame{Kind: kindHello, Hello: &Hello{Version: protocol}})
			return a, fmt.Errorf("it speaks version %d of the fleet's frames, and this lab version %d; run prepare", a.Version,
				protocol)
		}
		return a, nil
	case <-ctx.Done():
		return Asked{}, context.Cause(ctx)
	}
}

// Meet says who this host is, and waits until all clients have done so. A host
// that only has files to collect says nothing, and meets no clients.
func (s *Server) Meet(ctx context.Context, own *Hello) error {
	s.conn.send(frame{Kind: kindHello, Hello: own})
	select {
	case clients := <-s.first:
		if own != nil && len(clients) == 0 {
			return errors.New("a run without clients")
		}
		s.hellos = append(deref(own), clients...)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close ends the connection once all is sent.
func (s *Server) Close() { s.conn.close() }

func (s *Server) Hellos() []Hello { return s.hellos }

// Out and Errs pass text on to the standard output and the standard error of the
// host that started the run.
func (s *Server) Errs() io.Writer { return prints{s, toErrs} }

// Out passes on whole lines, so that none is torn by what the other hosts print.
func (s *Server) Out() io.Writer {
	return &lines{most: mostFrame, each: func(line []byte) error {
		_, err := prints{s, 0}.Write(append(line, '\n'))
		return err
	}}
}

type prints struct {
	s  *Server
	to int64
}

// toErrs is the id of frames with text for standard error.
const toErrs = 2

func (p prints) Write(b []byte) (int, error) {
	p.s.conn.send(frame{Kind: kindPrint, ID: p.to, Text: string(bytes.ToValidUTF8(b, []byte("\uFFFD")))})
	return len(b), nil
}

func (s *Server) handle(f frame) error {
	if is, err := s.conn.told(f); is {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f.Kind {
	case kindClients:
		for _, h := range f.Hellos {
			if h.Version != protocol {
				return errors.New("a client of another version")
			}
		}
		select {
		case s.first <- f.Hellos:
		default:
			return errors.New("the clients come twice")
		}
	case kindEnd:
		s.end(ErrAsked)
	case kindFetch:
		file, err := s.offer.give(f)
		if err != nil {
			return err
		}
		s.conn.send(file)
	case kindClocks, kindTaken: // too late for whoever asked
	case kindLost:
		lost := Lost{f.Client, said(f.Text)}
		s.lost[f.Client] = lost
		for _, r := range s.loads {
			if r.client == f.Client {
				r.finish(Seen{RxBytes: -1, TxBytes: -1}, lost)
			}
		}
	case kindStarted, kindLine, kindEnded:
		r := s.loads[f.ID]
		switch {
		case r == nil: // of a load that was given up
		case r.client != f.Client:
			return fmt.Errorf("client %d speaks of the load of client %d", f.Client, r.client)
		case f.Kind == kindEnded:
			delete(s.loads, f.ID)
			r.ended(f)
		default:
			r.came(f)
		}
	default:
		return fmt.Errorf("the server's host is sent no %s", f.Kind)
	}
	return nil
}

// ask asks the host that started the run.
func (s *Server) ask(ctx context.Context, f frame, answer kind, within time.Duration) (received, error) {
	a, err := s.conn.ask(ctx, f, answer, within)
	if err != nil && s.conn.open.Err() != nil {
		err = Gone{s.conn.reason()}
	}
	return a, err
}

// clocksWithin bounds the wait for the clocks of all clients.
const clocksWithin = time.Minute

func (s *Server) Clocks(ctx context.Context) ([]Clock, error) {
	a, err := s.ask(ctx, frame{Kind: kindClocks}, kindClocks, clocksWithin)
	switch {
	case err != nil:
		return nil, err
	case a.Text != "" && a.Client > 0:
		return nil, Lost{a.Client, said(a.Text)}
	case a.Text != "":
		return nil, errors.New(said(a.Text))
	case len(a.Clocks) != len(s.hellos)-1:
		return nil, fmt.Errorf("%d clocks came of %d clients", len(a.Clocks), len(s.hellos)-1)
	}
	return a.Clocks, nil
}

// takenWithin bounds the wait for a run's files to be collected.
const takenWithin = 2 * time.Minute

// Keep has the host that started the run collect files that a run has added. What
// it does not take stays here.
func (s *Server) Keep(ctx context.Context, root journal.Root, tried bool, paths []string) error {
	files, err := KeptAt(root, paths)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.offer = offer{root, files}
	s.mu.Unlock()
	// A run that was interrupted is collected as well.
	a, err := s.ask(context.WithoutCancel(ctx), frame{Kind: kindKept, Files: files, Tried: tried}, kindTaken,
		takenWithin)
	if err == nil && a.Text != "" {
		err = ErrNotTaken
	}
	return err
}

// ErrNotTaken says that the host that started the run could not take a file, and
// says itself why.
var ErrNotTaken = errors.New("the host that started the run did not take it")

// startWithin bounds the wait for a client to start its load, beyond the time that
// was planned for it.
const startWithin = 20 * time.Second

func (s *Server) Start(ctx context.Context, client int, l Load) (Running, error) {
	if client < 1 || client >= len(s.hellos) {
		return nil, fmt.Errorf("there is no client %d", client)
	}
	s.mu.Lock()
	if lost, is := s.lost[client]; is {
		s.mu.Unlock()
		return nil, lost
	}
	s.last++
	r := &running{server: s, id: s.last, client: client, started: make(chan struct{}), held: make(chan struct{}),
		done: make(chan struct{})}
	s.loads[r.id] = r
	s.mu.Unlock()
	s.conn.send(frame{Kind: kindLoad, ID: r.id, Client: client, Load: &l})
	select {
	case <-r.started:
		return r, nil
	case <-r.done:
		return nil, r.err
	case <-ctx.Done():
		r.Stop(0)
		return nil, context.Cause(ctx)
	case <-time.After(startWithin):
		r.Stop(0)
		return nil, fmt.Errorf("client %d did not start its load within %v", client, startWithin)
	}
}

// A running load is one that a client carries out.
type running struct {
	server *Server
	id     int64
	client int

	started chan struct{}
	held    chan struct{}
	done    chan struct{}

	// The rest is written under the server's lock, and read once done is closed.
	begun, isHeld, over bool
	printed             bytes.Buffer
	seen                Seen
	err                 error
}

// overLine is the line with which a generator says that its load is over.
const overLine = `{"held":true}`

// mostPrinted limits what a load prints in all.
const mostPrinted = 4 * mostFrame

func (r *running) came(f frame) {
	if f.Kind == kindStarted {
		if !r.begun {
			r.begun = true
			close(r.started)
		}
		return
	}
	if r.over || r.printed.Len()+len(f.Text) > mostPrinted {
		return
	}
	r.printed.WriteString(f.Text)
	r.printed.WriteByte('\n')
	if strings.TrimSpace(f.Text) == overLine && !r.isHeld {
		r.isHeld = true
		close(r.held)
	}
}

func (r *running) ended(f frame) {
	var err error
	switch f.Why {
	case refused:
		err = Refused{r.client, fmt.Sprintf("client %d: %s", r.client, said(f.Text))}
	case failed:
		err = fmt.Errorf("client %d: %s", r.client, said(f.Text))
	}
	r.finish(*cmp.Or(f.Seen, &Seen{RxBytes: -1, TxBytes: -1}), err)
}

func (r *running) finish(seen Seen, err error) {
	if r.over {
		return
	}
	r.over, r.seen, r.err = true, seen, err
	close(r.done)
}

func (r *running) Held() <-chan struct{} { return r.held }
func (r *running) Done() <-chan struct{} { return r.done }

func (r *running) Release() {
	r.server.conn.send(frame{Kind: kindRelease, ID: r.id, Client: r.client})
}

func (r *running) Result() ([]byte, Seen, error) {
	<-r.done
	return r.printed.Bytes(), r.seen, r.err
}

// stopWithin is how long a client may take to end a load, beyond the grace.
const stopWithin = 2 * time.Second

func (r *running) Stop(grace time.Duration) {
	r.server.conn.send(frame{Kind: kindStop, ID: r.id, Client: r.client, NS: max(0, grace.Nanoseconds())})
	select {
	case <-r.done:
	case <-time.After(grace + stopWithin):
	}
}
