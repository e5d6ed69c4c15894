package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Heartbeats go both ways, so that a host that has stopped, or a network that
// drops everything, is noticed as well as one that closes its end.
const (
	beatEvery  = time.Second
	goneWithin = 5 * time.Second
)

// mostQueued limits the frames that wait to be sent. A host that takes none for
// long has gone; its end is noticed by its missing heartbeats.
const mostQueued = 1 << 14

// errGone is why a connection has ended whose other end says nothing any more.
var errGone = fmt.Errorf("nothing came from it for %v", goneWithin)

// errClosed is why one has ended whose other end was closed.
var errClosed = errors.New("its connection ended")

// A conn is one end of a stream of frames. Nothing that is sent blocks its
// sender, and nothing that comes waits for anything but the handler.
type conn struct {
	w     io.WriteCloser
	clock func() time.Time // wall clock that the answers to kindClock have
	queue chan frame
	drain chan struct{} // closed to send what is queued and then end
	sent  chan struct{} // closed when the writer has ended
	asked chan Asked    // has what the host that started the run asks

	open   context.Context         // ends with the connection, for the reason of that
	fail   context.CancelCauseFunc // ends the connection; the first reason counts
	ending sync.Once
	silent *time.Timer // fails the connection; until its first frame a host may still be starting

	mu      sync.Mutex
	last    int64 // id of a question
	waiting map[question]chan received
}

// A question is one that waits for a frame of a kind with its id.
type question struct {
	answer kind
	id     int64
}

// A received frame has the time at which its line was complete.
type received struct {
	frame
	at time.Time
}

// newConn is a connection that is yet to begin. Its clock is the wall clock that it
// answers with.
func newConn(w io.WriteCloser, clock func() time.Time) *conn {
	c := &conn{w: w, clock: clock, queue: make(chan frame, mostQueued), drain: make(chan struct{}),
		sent: make(chan struct{}), waiting: map[question]chan received{}, asked: make(chan Asked, 1)}
	c.open, c.fail = context.WithCancelCause(context.Background())
	c.silent = time.AfterFunc(goneWithin, func() { c.fail(errGone) })
	c.silent.Stop()
	return c
}

// begin begins to send and to receive. handle gets each frame but heartbeats and
// answers, in their order; an error from it ends the connection.
func (c *conn) begin(r io.Reader, handle func(received) error) {
	go c.write()
	go c.read(r, handle)
}

// told does what the host that started a run asks of any other, and reports whether a
// frame was that.
func (c *conn) told(f frame) (is bool, err error) {
	switch f.Kind {
	case kindAsk:
		select {
		case c.asked <- *f.Ask:
		default:
			err = errors.New("it asks twice")
		}
	case kindClock:
		c.send(frame{Kind: kindClock, ID: f.ID, WallNS: 1}) // filled in as it is sent
	case kindTrack:
		go func() { c.send(frame{Kind: kindTrack, ID: f.ID, BoundS: track()}) }()
	default:
		return false, nil
	}
	return true, err
}

// send queues a frame. It is lost if the connection has ended.
func (c *conn) send(f frame) {
	select {
	case <-c.open.Done():
	case c.queue <- f:
	default:
		c.fail(errors.New("it does not take what it is sent"))
	}
}

// ask sends a question with an id of its own, and waits for its answer.
func (c *conn) ask(ctx context.Context, f frame, answer kind, within time.Duration) (received, error) {
	came := make(chan received, 1)
	c.mu.Lock()
	c.last++
	f.ID = c.last
	c.waiting[question{answer, f.ID}] = came
	c.mu.Unlock()
	c.send(f)
	select {
	case a := <-came:
		return a, nil
	case <-c.open.Done():
		return received{}, context.Cause(c.open)
	case <-ctx.Done():
		return received{}, context.Cause(ctx)
	case <-time.After(within):
		return received{}, fmt.Errorf("it did not answer %s within %v", f.Kind, within)
	}
}

// answered hands a frame to whoever waits for it, and reports whether somebody does.
func (c *conn) answered(f received) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	to, asked := c.waiting[question{f.Kind, f.ID}]
	if asked {
		delete(c.waiting, question{f.Kind, f.ID})
		to <- f
	}
	return asked
}

// close sends what is queued, and ends the connection.
func (c *conn) close() {
	c.ending.Do(func() { close(c.drain) })
	select {
	case <-c.sent:
	case <-time.After(goneWithin):
	}
	c.fail(errClosed)
}

// reason is why a connection has ended; it waits for the end.
func (c *conn) reason() error {
	<-c.open.Done()
	return context.Cause(c.open)
}

func (c *conn) write() {
	defer close(c.sent)
	defer c.w.Close()
	beat := time.Tick(beatEvery)
	one := func(f frame) bool {
		if f.Kind == kindClock && f.WallNS != 0 {
			f.WallNS = c.clock().UnixNano() // as late as possible
		}
		line, err := f.line()
		if err == nil {
			_, err = c.w.Write(line)
		}
		if err != nil {
			// What came before the end explains it better than the broken pipe.
			time.AfterFunc(2*time.Second, func() { c.fail(errClosed) })
		}
		return err == nil
	}
	for {
		f := frame{Kind: kindBeat}
		select {
		case <-c.open.Done():
			return
		case f = <-c.queue:
		case <-beat:
		case <-c.drain:
			for len(c.queue) > 0 {
				if !one(<-c.queue) {
					return
				}
			}
			return
		}
		if !one(f) {
			return
		}
	}
}

func (c *conn) read(r io.Reader, handle func(received) error) {
	in := &lines{most: mostFrame, each: func(line []byte) error {
		at := time.Now()
		f, err := parse(line)
		if from := (received{f, at}); err == nil && f.Kind != kindBeat && !c.answered(from) {
			err = handle(from)
		}
		return err
	}}
	part := make([]byte, 64<<10)
	for {
		n, ended := r.Read(part)
		if n > 0 { // also of a long line, which may take long to come
			c.silent.Reset(goneWithin)
		}
		_, err := in.Write(part[:n])
		switch {
		case err != nil:
		case errors.Is(ended, io.EOF) && len(bytes.TrimSpace(in.rest)) == 0:
			err = errClosed
		case ended != nil:
			err = fmt.Errorf("%w: %v", errClosed, ended)
		default:
			continue
		}
		c.fail(err)
		return
	}
}
