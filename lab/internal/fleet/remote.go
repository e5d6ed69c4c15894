package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
)

// A remote is a host with a lab that answers, as the host that started the run has
// it.
type remote struct {
	Host
	proc *leash.Proc
	conn *conn
	came chan Hello // has the hello

	hello Hello

	mu    sync.Mutex
	errs  []string // lines of standard error, the last ones
	show  func(line string)
	given map[int64]bool // loads that it was given
}

// mostLines is how many lines of standard error are kept.
const mostLines = 40

// start starts the lab on a host. Lines that it prints on standard error go to
// show once it has said its hello; until then they only explain why it does not.
func (h Host) start(args []string, show func(string), handle func(*remote, received) error) (*remote, error) {
	in, toHost, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	fromHost, out, err := os.Pipe()
	if err != nil {
		toHost.Close()
		return nil, err
	}
	defer out.Close()
	r := &remote{Host: h, came: make(chan Hello, 1), given: map[int64]bool{}}
	env := leash.Caller("HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "KRB5CCNAME", "SUDO_UID", "SUDO_GID")
	r.proc, err = leash.Start(leash.Spec{Argv: h.command(args...), Env: env, Stdin: in, Stdout: out, Lines: r.heard})
	if err != nil {
		toHost.Close()
		fromHost.Close()
		return nil, fmt.Errorf("%v: %w", h, err)
	}
	r.conn = newConn(toHost, time.Now)
	r.conn.begin(fromHost, func(f received) error {
		switch f.Kind {
		case kindHello:
			if f.Hello == nil {
				f.Hello = &Hello{Version: protocol}
			}
			select {
			case r.came <- *f.Hello:
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, line := range r.errs {
					show(line)
				}
				r.errs = nil // said before it answered, so no reason for its end
				r.show = show
				return nil
			default:
				return errors.New("it says hello twice")
			}
		case kindClock, kindTrack: // too late for whoever asked
			return nil
		}
		return handle(r, f)
	})
	context.AfterFunc(r.conn.open, func() {
		_ = fromHost.SetReadDeadline(time.Now()) // so that a reader of one that has gone ends
	})
	r.conn.send(frame{Kind: kindAsk, Ask: &h.asked})
	return r, nil
}

func (r *remote) heard(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.errs = append(r.errs, line); len(r.errs) > mostLines {
		r.errs = r.errs[1:]
	}
	if r.show != nil {
		r.show(line)
	}
}

// greet waits for the host's hello.
func (r *remote) greet(within time.Duration) error {
	select {
	case r.hello = <-r.came:
	case <-r.conn.open.Done():
		select {
		case r.hello = <-r.came:
		default:
			return fmt.Errorf("%v: %s", r.Host, r.why())
		}
	case <-time.After(within):
		return fmt.Errorf("%v: it did not answer within %v", r.Host, within)
	}
	if r.hello.Version != protocol {
		return fmt.Errorf("%v: its lab speaks version %d of the fleet's frames, and this one version %d; %s", r.Host,
			r.hello.Version, protocol, prepare)
	}
	return nil
}

// why says in words for the terminal why a host's connection has ended.
func (r *remote) why() string {
	err := r.conn.reason()
	if errors.Is(err, errClosed) {
		select {
		case <-r.proc.Done():
			r.mu.Lock()
			defer r.mu.Unlock()
			if says := r.refusal(r.proc.ExitCode(), r.errs); says != "" {
				return says
			}
		case <-time.After(2 * time.Second):
		}
	}
	return err.Error()
}

// kindOfEnd says the same in words that name nobody, for a results file.
func (r *remote) kindOfEnd() string {
	switch err := r.conn.reason(); {
	case errors.Is(err, errGone):
		return err.Error()
	case errors.Is(err, errClosed):
		return "its connection ended"
	}
	return "what came from it is no frame"
}

// trips is how many round trips a clock is measured by. The least counts, since
// whatever else a round trip meets only makes it longer.
const trips = 20

// clock measures a host's clock against this one's.
func (r *remote) clock() (best reading, known *float64, err error) {
	ctx := context.Background()
	chrony, err := r.conn.ask(ctx, frame{Kind: kindTrack}, kindTrack, goneWithin)
	if err != nil {
		return best, nil, err
	}
	for i := range trips {
		sent := time.Now()
		f, err := r.conn.ask(ctx, frame{Kind: kindClock}, kindClock, goneWithin)
		if err != nil {
			return best, nil, err
		}
		if one := trip(sent, f.at, f.WallNS); i == 0 || one.uncertainty < best.uncertainty {
			best = one
		}
	}
	return best, chrony.BoundS, nil
}

// end closes the connection and waits for the lab there to end, and ends what
// leads to it otherwise.
func (r *remote) end(grace time.Duration) {
	r.conn.close()
	select {
	case <-r.proc.Done():
	case <-time.After(grace):
	}
	_ = r.proc.Stop(r.proc.Pid(), 0)
}

// A printer writes text in its order without holding up whoever has it written,
// since a terminal may be paused.
type printer struct {
	queue chan func() // nil is the end
	done  chan struct{}
}

func newPrinter() *printer {
	p := &printer{make(chan func(), 1<<16), make(chan struct{})}
	go func() {
		defer close(p.done)
		for f := <-p.queue; f != nil; f = <-p.queue {
			f()
		}
	}()
	return p
}

func (p *printer) print(to io.Writer, text string) {
	select {
	case p.queue <- func() { _, _ = io.WriteString(to, text) }:
	default: // nobody reads it
	}
}

// flush writes what is queued. Nothing more is printed.
func (p *printer) flush() {
	select {
	case p.queue <- nil:
	case <-p.done: // it was flushed before
	}
	<-p.done
}
