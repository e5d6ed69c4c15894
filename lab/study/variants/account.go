package variants

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// An Account says what happened to events. After Close, Added is the sum of Delivered,
// Dropped, Failed and Returned; before that, the difference is the events that are held.
type Account struct {
	Added     int64 // events that Add took, and those that it dropped
	Delivered int64 // their Send succeeded
	Dropped   int64 // there was no room for them
	Failed    int64 // their last Send failed
	Returned  int64 // Close could not wait for them
	Logged    int64 // the sum of the events in log lines
	LogLines  int64 // log lines with a number of events
}

// Held is how many events are neither delivered nor given up.
func (a Account) Held() int64 {
	// An event can be delivered just before its Add is counted.
	return max(a.Added-a.Delivered-a.Dropped-a.Failed-a.Returned, 0)
}

// A ledger keeps the account, and the log lines by which the study's text counts.
type ledger struct {
	added, delivered, dropped, failed, returned, logged, lines atomic.Int64

	mu  sync.Mutex
	out io.Writer
}

func (l *ledger) Account() Account {
	a := Account{
		Delivered: l.delivered.Load(), Dropped: l.dropped.Load(), Failed: l.failed.Load(),
		Returned: l.returned.Load(), Logged: l.logged.Load(), LogLines: l.lines.Load(),
	}
	a.Added = l.added.Load() // read last, so that it includes all events in the other counts
	return a
}

// log writes the line, by which the text counts, for one batch that was sent.
func (l *ledger) log(events int) {
	l.logged.Add(int64(events))
	l.lines.Add(1)
	l.line(fmt.Sprintf("count=%d", events))
}

func (l *ledger) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The account counts the line whether or not it can be written.
	_, _ = fmt.Fprintf(l.out, "%s INF %s\n", time.Now().UTC().Format(time.RFC3339), text)
}

// These methods are the library's batch.Meter.

func (l *ledger) Sent(int, time.Duration, time.Duration, error) {}
func (l *ledger) InFlight(int)                                  {}
func (l *ledger) Queued(int)                                    {}
func (l *ledger) Delivered(n int)                               { l.delivered.Add(int64(n)) }
func (l *ledger) Dropped(n int, why batch.Reason) {
	if why == batch.Full {
		l.dropped.Add(int64(n))
	} else {
		l.failed.Add(int64(n))
	}
}
