package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// An agent is a client's host, as the one that started the run talks to it.
type agent struct {
	Owner
	hello Hello
	conn  *conn

	mu   sync.Mutex
	load *carried // nil: none
}

// Agent answers for a client's host until its input ends or nothing comes any
// more. It carries out one load at a time, and leaves none behind.
func Agent(ctx context.Context, o Owner, in io.Reader, out io.WriteCloser) error {
	a := &agent{Owner: o}
	now, _ := clock()
	a.conn = newConn(out, now)
	a.conn.begin(in, func(f received) error { return a.handle(f.frame) })
	defer a.end()
	select {
	case q := <-a.conn.asked:
		if q.Version != protocol {
			a.conn.send(frame{Kind: kindHello, Hello: &Hello{Version: protocol}})
			a.conn.close()
			return nil
		}
		h, err := o.Say(q)
		if err != nil {
			return err
		}
		a.mu.Lock()
		a.hello = h
		a.mu.Unlock()
		a.conn.send(frame{Kind: kindHello, Hello: &h})
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.conn.open.Done():
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-a.conn.open.Done():
	}
	if err := a.conn.reason(); !errors.Is(err, errClosed) {
		return fmt.Errorf("the host that started the run: %w", err)
	}
	return nil
}

// loading is the last load that was begun; nil without any.
func (a *agent) loading() *carried {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.load
}

// end stops the load, if there is one.
func (a *agent) end() {
	if l := a.loading(); l != nil {
		l.stop(0)
		<-l.over
	}
	a.conn.close()
}

func (a *agent) handle(f frame) error {
	if is, err := a.conn.told(f); is {
		return err
	}
	switch f.Kind {
	case kindLoad:
		return a.start(f)
	case kindRelease, kindStop:
		switch l := a.loading(); {
		case l == nil || l.id != f.ID: // it has ended meanwhile
		case f.Kind == kindRelease:
			l.release()
		default:
			go l.stop(min(time.Duration(f.NS), mostGrace))
		}
	default:
		return fmt.Errorf("a client is sent no %s", f.Kind)
	}
	return nil
}

// start begins a load.
func (a *agent) start(f frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hello.Version == 0 {
		return errors.New("a load before the hello")
	}
	if a.load != nil {
		select {
		case <-a.load.over:
		default:
			return errors.New("a second load while the first goes on")
		}
	}
	l := &carried{agent: a, id: f.ID, client: f.Client, Load: *f.Load, over: make(chan struct{}),
		ending: make(chan time.Duration, 1)}
	a.load = l
	go func() {
		defer close(l.over)
		seen, err := l.carryOut()
		ended := frame{Kind: kindEnded, ID: l.id, Client: l.client, Seen: &seen}
		if err != nil {
			ended.Why, ended.Text = failed, cmp.Or(said(err.Error()), "it failed")
			if _, ok := errors.AsType[Refused](err); ok {
				ended.Why = refused
			}
		}
		a.conn.send(ended)
	}()
	return nil
}

// lines splits what is written to it, and passes on each whole line.
type lines struct {
	rest []byte
	most int
	each func(line []byte) error
}

func (l *lines) Write(b []byte) (int, error) {
	from := len(l.rest) // what came before has no end of a line
	l.rest = append(l.rest, b...)
	for {
		at := bytes.IndexByte(l.rest[from:], '\n')
		if from+at > l.most || at < 0 && len(l.rest) > l.most {
			return 0, fmt.Errorf("a line of more than %d bytes", l.most)
		}
		if at < 0 {
			return len(b), nil
		}
		if err := l.each(l.rest[:from+at]); err != nil {
			return 0, err
		}
		l.rest, from = l.rest[from+at+1:], 0
	}
}
