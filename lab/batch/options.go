package batch

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"time"
)

// A Policy says what happens to an event for which there is no room.
type Policy int

// The policies.
const (
	Block      Policy = iota // Add waits for room, or for its context; TryAdd refuses
	DropNewest               // the event itself is dropped
	DropOldest               // the batch that has waited longest is dropped
)

// A Retry says whether a batch that failed is tried again, and after how long. attempt
// counts from 1, and err is what Send returned; if that is a PartialError, only the rest
// of the batch is tried again. A Retry may be called from several goroutines at once.
type Retry func(attempt int, err error) (wait time.Duration, again bool)

// Backoff tries a batch so many times in all. The wait before the second attempt is
// between base and twice base, and doubles each time, up to most. Half of each wait is
// random, so that batchers that failed together do not come back together.
func Backoff(base, most time.Duration, attempts int) Retry {
	return func(attempt int, _ error) (time.Duration, bool) {
		if attempt >= attempts {
			return 0, false
		}
		wait := most
		if shift := attempt; shift < 32 && base<<shift > 0 && base<<shift < most {
			wait = base << shift
		}
		return wait/2 + rand.N(wait/2+1), true
	}
}

// config is the settings that the options make.
type config struct {
	count    int
	bytes    int
	size     any // func(E) int
	interval time.Duration
	capacity int
	inFlight int
	timeout  time.Duration
	policy   Policy
	ordered  bool
	retry    Retry
	meter    Meter
	logger   *slog.Logger
	shards   int
}

// An Option changes how a Batcher works. New refuses those that make no sense.
type Option func(*config) error

// MaxCount is how many events make a batch. The default is 1000.
func MaxCount(n int) Option {
	return func(c *config) error {
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("batch: MaxCount(%d): a batch has from 1 to %d events", n, math.MaxInt32)
		}
		c.count = n
		return nil
	}
}

// MaxBytes is how many bytes make a batch; size gives the bytes of an event. An event
// that is larger by itself makes a batch of its own. By default bytes are not counted.
func MaxBytes[E any](n int, size func(E) int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("batch: MaxBytes(%d): a batch has at least 1 byte", n)
		}
		if size == nil {
			return errors.New("batch: MaxBytes: say how large an event is")
		}
		c.bytes, c.size = n, size
		return nil
	}
}

// Interval is the longest time that an event waits before its batch leaves, full or not.
// The default is a second.
func Interval(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("batch: Interval(%v): it has to be positive", d)
		}
		c.interval = d
		return nil
	}
}

// Capacity is the most events that are held, those in flight included. It is rounded up
// to whole batches, and to at least one for each buffer that is being filled, one for
// each batch in flight, and one more. The default is ten batches, or that least number if
// it is larger.
func Capacity(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("batch: Capacity(%d): there has to be room for an event", n)
		}
		c.capacity = n
		return nil
	}
}

// InFlight is how many batches are being sent at once. The default is 1.
func InFlight(n int) Option {
	return func(c *config) error {
		if n < 1 || n > 1<<16 {
			return fmt.Errorf("batch: InFlight(%d): from 1 to %d batches", n, 1<<16)
		}
		c.inFlight = n
		return nil
	}
}

// Timeout is how long one attempt to send may take; its context then ends. By
// default only Close ends it.
func Timeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return fmt.Errorf("batch: Timeout(%v): it has to be positive", d)
		}
		c.timeout = d
		return nil
	}
}

// WhenFull chooses what happens to events for which there is no room. The default is
// Block.
func WhenFull(p Policy) Option {
	return func(c *config) error {
		if p < Block || p > DropOldest {
			return fmt.Errorf("batch: WhenFull(%d): use Block, DropNewest or DropOldest", p)
		}
		c.policy = p
		return nil
	}
}

// Ordered keeps the order in which events were added. The package's documentation states
// what that costs.
func Ordered() Option {
	return func(c *config) error {
		c.ordered = true
		return nil
	}
}

// WithRetry lets failed batches be tried again. By default a batch that fails is lost,
// and Flush, Close and the log report it.
func WithRetry(r Retry) Option {
	return func(c *config) error {
		if r == nil {
			return errors.New("batch: WithRetry: nil; leave it out to try once")
		}
		c.retry = r
		return nil
	}
}

// WithMeter names the Meter that is told what happens.
func WithMeter(m Meter) Option {
	return func(c *config) error {
		if m == nil {
			return errors.New("batch: WithMeter: nil; leave it out for none")
		}
		c.meter = m
		return nil
	}
}

// WithLogger logs losses to this logger instead of slog.Default: the first at once, and
// then every 10 seconds the sums of what was lost since. It also logs each failed attempt
// that is tried again, which the default does not. The batch waits while that is logged,
// so a handler must not wait for the batcher. slog.New(slog.DiscardHandler) silences it.
func WithLogger(l *slog.Logger) Option {
	return func(c *config) error {
		if l == nil {
			return errors.New("batch: WithLogger: nil; leave it out for slog.Default, or use slog.DiscardHandler for silence")
		}
		c.logger = l
		return nil
	}
}

// settle fills in defaults, and refuses options that do not fit together.
func settle(opts []Option) (config, error) {
	c := config{count: 1000, interval: time.Second, inFlight: 1, shards: runtime.GOMAXPROCS(0), meter: none{}}
	for _, o := range opts {
		if o == nil {
			return c, errors.New("batch: a nil option")
		}
		if err := o(&c); err != nil {
			return c, err
		}
	}
	if c.ordered {
		if c.inFlight > 1 {
			return c, fmt.Errorf("batch: Ordered and InFlight(%d): two batches in flight have no order", c.inFlight)
		}
		c.shards = 1
	}
	return c, nil
}

// buffers is the number of buffers, which bounds how many events are held.
func (c config) buffers() int {
	least := c.shards + c.inFlight + 1
	if c.capacity == 0 {
		return max(least, 10)
	}
	return max(least, (c.capacity+c.count-1)/c.count)
}
