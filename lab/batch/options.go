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
	DropNewest               // drop the event itself
	DropOldest               // the batch that has waited longest is dropped
)

// A Retry says whether to try a failed batch again, and after how long. The attempt
// counts from 1, and err is what Send returned. After a PartialError, only the rest of
// the batch goes again. Several goroutines may call a Retry at once.
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
type Option func(*config)

// MaxCount is how many events make a batch. The default is 1000.
func MaxCount(n int) Option { return func(c *config) { c.count = n } }

// MaxBytes is how many bytes make a batch; size gives the bytes of an event. An event that is
// larger by itself makes a batch of its own. By default nobody counts bytes.
func MaxBytes[E any](n int, size func(E) int) Option {
	return func(c *config) { c.bytes, c.size = n, size }
}

// Interval is the longest time that an event waits before its batch leaves, full or not.
// The default is a second.
func Interval(d time.Duration) Option { return func(c *config) { c.interval = d } }

// Capacity is the most events that are held, those in flight included. New rounds it up to
// whole batches, and to at least one for each filling buffer, one for each batch in flight,
// and one more. The default, which is also that of 0, is ten batches, or that least number
// if it is larger.
func Capacity(n int) Option { return func(c *config) { c.capacity = n } }

// InFlight is how many batches are being sent at once. The default is 1.
func InFlight(n int) Option { return func(c *config) { c.inFlight = n } }

// Timeout is how long one attempt to send may take; its context then ends. By
// default, and with 0, only Close ends it.
func Timeout(d time.Duration) Option { return func(c *config) { c.timeout = d } }

// WhenFull chooses what happens to events for which there is no room. The default is
// Block.
func WhenFull(p Policy) Option { return func(c *config) { c.policy = p } }

// Ordered keeps the order in which events were added. The package's documentation states
// what that costs.
func Ordered() Option { return func(c *config) { c.ordered, c.shards = true, 1 } }

// WithRetry tries failed batches again. By default a batch that fails is lost, and Flush, Close and
// the log report it.
func WithRetry(r Retry) Option { return func(c *config) { c.retry = r } }

// WithMeter names the Meter that hears what happens.
func WithMeter(m Meter) Option { return func(c *config) { c.meter = m } }

// WithLogger logs losses to this logger instead of slog.Default: the first at once, and
// then every 10 seconds the sums of what was lost since. It also logs each failed attempt
// that is tried again, which the default does not. The batch waits while that is logged,
// so a handler must not wait for the batcher. slog.New(slog.DiscardHandler) silences it.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// settle fills in defaults, and refuses options that make no sense.
func settle(opts []Option) (config, error) {
	c := config{count: 1000, interval: time.Second, inFlight: 1, shards: runtime.GOMAXPROCS(0), meter: none{},
		retry: Backoff(0, 0, 1)}
	for _, o := range opts {
		o(&c)
	}
	switch {
	case c.count < 1 || c.count > math.MaxInt32:
		return c, fmt.Errorf("batch: MaxCount(%d): a batch has from 1 to %d events", c.count, math.MaxInt32)
	case c.size != nil && c.bytes < 1:
		return c, fmt.Errorf("batch: MaxBytes(%d): a batch has at least 1 byte", c.bytes)
	case c.interval <= 0:
		return c, fmt.Errorf("batch: Interval(%v): it has to be positive", c.interval)
	case c.capacity < 0:
		return c, fmt.Errorf("batch: Capacity(%d): there has to be room for an event", c.capacity)
	case c.inFlight < 1 || c.inFlight > 1<<16:
		return c, fmt.Errorf("batch: InFlight(%d): from 1 to %d batches", c.inFlight, 1<<16)
	case c.timeout < 0:
		return c, fmt.Errorf("batch: Timeout(%v): it has to be positive", c.timeout)
	case c.policy < Block || c.policy > DropOldest:
		return c, fmt.Errorf("batch: WhenFull(%d): use Block, DropNewest or DropOldest", c.policy)
	case c.retry == nil:
		return c, errors.New("batch: WithRetry(nil): leave the option out, and nothing is tried again")
	case c.meter == nil:
		return c, errors.New("batch: WithMeter(nil): leave the option out to have no meter")
	case c.ordered && c.inFlight > 1:
		return c, fmt.Errorf("batch: Ordered and InFlight(%d): two batches in flight have no order", c.inFlight)
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
