package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"fortio.org/fortio/fhttp"
	"fortio.org/fortio/stats"

	"github.com/line-rate/line-rate/lab/internal/answer"
)

const (
	// bufferKiB is each connection's buffer, which an answer has to fit:
	// twice the longest /list.
	bufferKiB = 256

	// A connection whose request failed waits this long before the next,
	// longer each time: a server that has gone is not to be hammered.
	leastPause = 10 * time.Millisecond
	mostPause  = 500 * time.Millisecond

	// grace is for the requests in flight at the end. Answers that come in it
	// are late and not counted; it only lets the connections end by
	// themselves.
	grace = 200 * time.Millisecond

	dialTimeout = 3 * time.Second
	openAtOnce  = 64
)

// errNotReached is the error of a server that is not there.
var errNotReached = errors.New("nothing listens there")

// A connection sends one request after the other.
type connection struct {
	client   fhttp.Fetcher
	connects *stats.Histogram // fortio's: its count is of connections made
	open     bool             // the last request left the connection usable
	timeout  time.Duration
	tally    *tally

	answers *answer.Set // what may be answered; nil: not looked at
	turn    int         // counts answers, one in so many of which is compared in full
	last    []byte      // the last answer, in fortio's own buffer

	hand chan int64 // the open loop's next request, for one that waits
	// current is when the request in flight was due, in nanoseconds of the
	// load's clock, or none. The tally's lock guards its end.
	current atomic.Int64
}

// none is no time of the load's clock: it begins at 0.
const none = -1

// An outcome is what one request came to.
type outcome struct {
	code     int
	bytes    int64
	resets   int64
	timedOut bool
	compared bool  // in full, and not by its length alone
	wrong    error // what is wrong with the body, if that was looked at
}

func (o outcome) ok() bool { return o.code >= 200 && o.code <= 299 }

// Write is given each answer by fortio, with its head, and does not keep it.
func (c *connection) Write(answer []byte) (int, error) {
	c.last = answer
	return len(answer), nil
}

// fetch sends one request and reads the answer.
func (c *connection) fetch() outcome {
	before, expected := c.connects.Count, int64(1)
	if c.open {
		expected = 0
	}
	began := time.Now()
	code, size, head := c.client.StreamFetch(context.Background())
	o := outcome{code: code, bytes: size}
	again := c.connects.Count - before - expected
	if size >= bufferKiB<<10 {
		// What is left of the answer would be read as the next one.
		o.code = fhttp.SocketError
	}
	if again > 0 || code < 0 {
		// fortio takes a first read that timed out for a connection that
		// has ended as well, and tries again. Only the clock tells the two
		// apart. What the second try came to is no answer in time.
		if o.timedOut = time.Since(began) >= c.timeout; o.timedOut {
			o.code = fhttp.SocketError
		} else {
			o.resets = max(again, 0)
		}
	}
	if c.answers != nil && o.ok() {
		// A body that was cut off is short here: fortio takes the end of a
		// connection for that of an answer.
		c.compare(&o, c.last[min(int(head), len(c.last)):])
	}
	if c.open = o.ok(); !c.open {
		c.client.Close() // fortio keeps some open
	}
	return o
}

// compare looks at an answer's body: by its length, and at the body itself of
// one in so many.
func (c *connection) compare(o *outcome, body []byte) {
	if c.turn++; c.turn%c.answers.Share() != 0 {
		o.wrong = c.answers.Length(len(body))
		return
	}
	o.compared = true
	o.wrong = c.answers.Body(body)
}

// A generator is one load.
type generator struct {
	Settings
	origin        time.Time     // when the warm-up begins
	start, finish time.Duration // of the measured part, since origin
	conns         []*connection
	tallies       []*tally
	stop          chan struct{}
	queue         *queue // of the open loop, else nil
}

// load makes the whole load.
func load(ctx context.Context, s Settings) (*output, error) {
	g := &generator{Settings: s, start: s.Warmup, finish: s.Warmup + s.Duration, stop: make(chan struct{})}
	if err := g.connect(ctx); err != nil {
		return nil, err
	}
	g.origin = time.Now()
	var running sync.WaitGroup
	if s.Rate > 0 {
		g.queue = newQueue(schedule{g.start, g.finish, s.Rate}, g.conns)
		running.Go(func() { g.queue.pace(g.clock, g.stop) })
	}
	for _, c := range g.conns {
		running.Go(func() {
			if g.queue != nil {
				g.openLoop(c)
			} else {
				g.closedLoop(c)
			}
		})
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Until(g.origin.Add(g.finish))):
	}
	close(g.stop)
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(grace):
	}
	return g.collect(), nil
}

// clock is the load's: monotonic, from the beginning of the warm-up.
func (g *generator) clock() time.Duration { return time.Since(g.origin) }

// connect opens every connection and sends one request on each, so that
// connecting is in no figure.
func (g *generator) connect(ctx context.Context) error {
	u, err := url.Parse(g.URL)
	if err != nil {
		return err
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), "80")
	}
	probe, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReached, err)
	}
	probe.Close()

	for range tallies {
		g.tallies = append(g.tallies, newTally(g.start, g.finish))
	}
	var opening sync.WaitGroup
	var failed atomic.Int64
	slots := make(chan struct{}, openAtOnce)
	for i := range g.Connections {
		o := fhttp.NewHTTPOptions(g.URL)
		o.HTTPReqTimeOut = g.Timeout
		// Connections start at different numbers, so that of few answers on
		// each some are compared as well.
		c := &connection{timeout: g.Timeout, answers: g.Answers, turn: i,
			tally: g.tallies[i%len(g.tallies)], hand: make(chan int64, 1)}
		o.DataWriter = c
		client, err := fhttp.NewFastClient(o)
		if err != nil {
			return err
		}
		_, connects := client.GetIPAddress()
		c.client, c.connects = client, connects
		c.current.Store(none)
		g.conns = append(g.conns, c)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		if failed.Load() > 0 {
			break
		}
		opening.Go(func() {
			defer func() { <-slots }()
			if c.fetch().code < 0 {
				failed.Add(1)
			}
		})
	}
	opened := make(chan struct{})
	go func() { opening.Wait(); close(opened) }()
	select {
	case <-opened:
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2*g.Timeout + dialTimeout):
		// fortio never ends with a chunked answer that its buffer cannot
		// hold. In a trial that is a connection without an answer; here it
		// would be one without an end.
		failed.Add(1)
	}
	if failed.Load() > 0 {
		return fmt.Errorf("%s takes connections, but not each of %d got an HTTP answer within %v", addr, g.Connections, g.Timeout)
	}
	return nil
}

// closedLoop sends the next request when the answer to the last has come.
func (g *generator) closedLoop(c *connection) {
	pause := leastPause
	for at := g.clock(); at < g.finish; {
		o := c.fetch()
		now := g.clock()
		c.tally.add(o, now-at, now, nil)
		if !g.rest(o, &pause) {
			return
		}
		if at = now; o.code < 0 {
			at = g.clock()
		}
	}
}

// openLoop sends what is due, when it is due or else as soon as it can.
func (g *generator) openLoop(c *connection) {
	pause := leastPause
	for {
		due, ok := g.queue.next(c, g.clock, g.stop)
		if !ok {
			return
		}
		o := c.fetch()
		now := g.clock()
		// A late one stays noted as in flight, so this connection takes no
		// other.
		if !c.tally.add(o, now-due, now, &c.current) || !g.rest(o, &pause) {
			return
		}
	}
}

// rest waits after a request that failed. It reports whether to go on.
func (g *generator) rest(o outcome, pause *time.Duration) bool {
	if o.code >= 0 {
		*pause = leastPause
		return true
	}
	select {
	case <-g.stop:
		return false
	case <-time.After(*pause):
		*pause = min(2**pause, mostPause)
		return true
	}
}
