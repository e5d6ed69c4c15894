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
	done  chan struct{}
	sent  chan struct{} // closed when the writer has ended
	asked chan Asked    // has what the host that started the run asks

	ending sync.Once
	err    error // why it ended, once done is closed
	once   sync.Once

	mu      sync.Mutex
	seen    time.Time
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
	return &conn{w: w, clock: clock, queue: make(chan frame, mostQueued), drain: make(chan struct{}),
		done: make(chan struct{}), sent: make(chan struct{}), waiting: map[question]chan received{},
		asked: make(chan Asked, 1)}
}

// begin begins to send and to receive. handle gets each frame but heartbeats and
// answers, in their order; an error from it ends the connection.
func (c *conn) begin(r io.Reader, handle func(received) error) {
	go c.write()
	go c.read(r, handle)
	go c.watch()
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
	case <-c.done:
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
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case a := <-came:
		return a, nil
	case <-c.done:
		return received{}, c.err
	case <-ctx.Done():
		return received{}, context.Cause(ctx)
	case <-late.C:
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

// fail ends the connection; the first reason counts.
func (c *conn) fail(err error) {
	c.once.Do(func() {
		c.err = err
		close(c.done)
	})
}

// reason is why a connection has ended; it waits for the end.
func (c *conn) reason() error {
	<-c.done
	return c.err
}

func (c *conn) write() {
	defer close(c.sent)
	defer c.w.Close()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
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
		select {
		case <-c.done:
			return
		case f := <-c.queue:
			if !one(f) {
				return
			}
		case <-beat.C:
			if !one(frame{Kind: kindBeat}) {
				return
			}
		case <-c.drain:
			for {
				select {
				case f := <-c.queue:
					if !one(f) {
						return
					}
				default:
					return
				}
			}
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
			c.mu.Lock()
			c.seen = time.Now()
			c.mu.Unlock()
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

func (c *conn) watch() {
	tick := time.NewTicker(beatEvery / 4)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
			c.mu.Lock()
			seen := c.seen
			c.mu.Unlock()
			// Until its first frame a host may still be starting.
			if !seen.IsZero() && time.Since(seen) > goneWithin {
				c.fail(errGone)
				return
			}
		}
	}
}
