package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/load"
)

// An output is the line that is printed: what both programs counted in the window.
type output struct {
	Generator string    `json:"generator"`
	Start     time.Time `json:"start"`
	Finish    time.Time `json:"finish"`

	counters
	event.Figures

	BacklogStart  int64         `json:"backlog_start"`
	BacklogFinish int64         `json:"backlog_finish"`
	Delivery      *load.Latency `json:"delivery_s,omitempty"`

	End   end `json:"end"`
	Limit int `json:"limit_per_s,omitempty"`

	thirds [4]*load.Latency // deliveries before the window, and in each of its thirds
}

// An end is the account of all events since the start, after the stop.
type end struct {
	Added       int64 `json:"added"`
	Arrived     int64 `json:"arrived"`
	Failed      int64 `json:"failed"`
	Unaccounted int64 `json:"unaccounted"`
}

// counters are the counts of a trial since its start.
type counters struct {
	Requests    int64 `json:"requests"`
	Refused     int64 `json:"refused"`       // not taken in
	Events      int64 `json:"events"`        // first arrivals
	Duplicates  int64 `json:"duplicates"`    // later ones
	InFlightMax int64 `json:"in_flight_max"` // since the last look
}

// A trial is a run of the producer under this sink, from its start to its stop.
type trial struct {
	Settings
	conn            net.Conn // to the producer
	answers         *json.Decoder
	err             error       // the first; after it there is no wait
	delivery, third event.Times // from due time to first arrival

	mu sync.Mutex
	counters
	batches  int64 // that came complete
	inFlight int64
	seen     []bool // by number, whether the event arrived
}

// trial makes a trial at a rate; 0: the producer's own. The run ends with the connection, whatever happens.
func (s Settings) trial(ctx context.Context, rate int, warmup, lasts time.Duration) (*output, error) {
	t := &trial{Settings: s}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	go func() { _ = http.Serve(ln, t) }() // ends with that
	if t.conn, err = net.Dial("tcp", s.Producer); err != nil {
		return nil, fmt.Errorf("no producer is there: %w", err)
	}
	defer t.conn.Close()
	defer context.AfterFunc(ctx, func() { t.conn.Close() })()
	t.answers = json.NewDecoder(t.conn)
	t.look(event.Ask{Port: ln.Addr().(*net.TCPAddr).Port, Rate: rate, Lasts: warmup + lasts})
	t.sleep(ctx, warmup)
	from := t.look(event.Ask{})
	began := time.Now()
	var thirds [4]*load.Latency
	for i := range thirds {
		t.sleep(ctx, time.Until(began.Add(lasts*time.Duration(i)/3)))
		thirds[i] = t.third.Latency()
	}
	out, last := t.look(event.Ask{}), t.look(event.Ask{Stop: true})
	out.since(from)
	out.thirds = thirds
	out.End = end{last.Added, last.Events, last.Failed, last.missing(last.Added)}
	return out, t.err
}

func (t *trial) sleep(ctx context.Context, d time.Duration) {
	if t.err != nil {
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		t.err = ctx.Err()
	}
}

// look asks the producer and reads both programs' counts, and what was delivered since the last look.
func (t *trial) look(what event.Ask) *output {
	o := &output{Generator: "event_sink"}
	if t.err != nil {
		return o
	}
	// At the stop, the producer waits for one answer and then drains for ten seconds.
	_ = t.conn.SetDeadline(time.Now().Add(t.Latency + 15*time.Second))
	if t.err = json.NewEncoder(t.conn).Encode(what); t.err == nil {
		t.err = t.answers.Decode(&o.Figures)
	}
	if t.err != nil {
		t.err = fmt.Errorf("the producer at %s, which serves one sink at a time: %w", t.Producer, t.err)
	}
	// Without the monotonic reading, the printed times differ as the wall clock does.
	o.Finish, o.Delivery = time.Now().Round(0).UTC(), t.delivery.Latency()
	t.mu.Lock()
	defer t.mu.Unlock()
	o.counters = t.counters
	t.InFlightMax = t.inFlight
	o.BacklogFinish = o.missing(o.Offered)
	return o
}

// missing is how many of n events neither arrived nor were given up.
func (o *output) missing(n int64) int64 { return max(n-o.Events-o.Failed, 0) }

// since leaves only the counts after an earlier look.
func (o *output) since(from *output) {
	o.Start, o.BacklogStart = from.Finish, from.BacklogFinish
	o.Requests -= from.Requests
	o.Refused -= from.Refused
	o.Events -= from.Events
	o.Duplicates -= from.Duplicates
	o.Offered -= from.Offered
	o.Added -= from.Added
	o.Logged -= from.Logged
	o.Failed -= from.Failed
}

// ServeHTTP takes a batch in, or refuses it.
func (t *trial) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	size, err := strconv.Atoi(req.Header.Get(event.SizeHeader))
	n := req.ContentLength
	if err != nil || size < event.Header || n <= 0 || n > 1<<29 || n%int64(size) != 0 {
		http.Error(w, fmt.Sprintf("POST whole events, with their size in %s", event.SizeHeader), http.StatusBadRequest)
		return
	}
	t.enter(1)
	defer t.enter(-1)
	raw := make([]byte, n)
	if _, err := io.ReadFull(req.Body, raw); err != nil {
		return // an error means that the sender has gone
	}
	if !t.take(raw, size) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	time.Sleep(t.Latency)
	w.WriteHeader(http.StatusNoContent)
}

// enter counts a request that came, or one that leaves.
func (t *trial) enter(n int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Requests += max(n, 0)
	t.inFlight += n
	t.InFlightMax = max(t.InFlightMax, t.inFlight)
}

// take takes a batch in, or refuses it if it is one of so many in a thousand: spread evenly, and always the same.
func (t *trial) take(raw []byte, size int) bool {
	now := time.Now().UnixNano()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches++
	if permille := int64(t.Errors); t.batches*permille/1000 > (t.batches-1)*permille/1000 {
		t.Refused++
		return false
	}
	for at := 0; at < len(raw); at += size {
		number, due := event.Get(raw[at:])
		if more := int(number) + 1 - len(t.seen); more > 0 {
			t.seen = append(t.seen, make([]bool, more)...)
		}
		if t.seen[number] {
			t.Duplicates++
			continue
		}
		t.seen[number] = true
		t.Events++
		t.delivery.Add(time.Duration(now - due))
		t.third.Add(time.Duration(now - due))
	}
	return true
}

// finest is the last step of a search: the 32nd root of the first.
const finest = 1.044

// search finds the highest rate that is kept up with. The rate quadruples from 2000 events a second on until it is too
// high. Then the search halves the step, on a logarithmic scale, for at most a minute: lab run allows a sink little
// more. It tries the result for a whole window, and up to seven lower rates if that does not hold. Too high a rate
// leaves the processes no time, so its window ends late and its figures are not those of a limit.
func search(try func(perSecond int, whole bool) (keptUp bool, err error)) (int, error) {
	low, step, tooHigh := 500.0, 4.0, false
	for until := time.Now().Add(time.Minute); step > finest && low*step <= event.MaxRate && time.Now().Before(until); {
		keptUp, err := try(int(low*step), false)
		if err != nil {
			return 0, err
		}
		if keptUp {
			low *= step
		}
		if tooHigh = tooHigh || !keptUp; tooHigh {
			step = math.Sqrt(step)
		}
	}
	for tries := 0; tooHigh && tries < 8; tries++ {
		if keptUp, err := try(int(low), true); keptUp || err != nil {
			return int(low), err
		}
		low /= finest
	}
	return 0, errors.New("--find-limit found no limit; give a longer --duration, or lower the producer's --interval-ms " +
		"or this --latency-ms: each rate takes five times their sum, and a search at most a minute")
}

// findLimit searches for the limit and spends the window there, so that the record beside it shows which CPU is full.
// Each rate has a run of its own, so none has the events of a rate that was too high. A third of a window is long
// enough for each worker of a pool to have sent once, which at a low rate it does once per interval.
func (s Settings) findLimit(ctx context.Context) (*output, error) {
	out, err := s.trial(ctx, 0, 0, 0) // tells the interval
	if err != nil {
		return nil, err
	}
	normal := time.Duration(out.Interval*float64(time.Second)) + s.Latency
	third := max(normal, 100*time.Millisecond)
	limit, err := search(func(rate int, whole bool) (keptUp bool, err error) {
		warmup, lasts := 2*third, 3*third
		if whole {
			warmup, lasts = max(s.Warmup, warmup), s.Duration
		}
		out, err = s.trial(ctx, rate, warmup, lasts)
		return err == nil && out.keptUp(normal, third), err
	})
	if err != nil {
		return nil, err
	}
	out.Limit = limit
	return out, nil
}

// keptUp tells whether all events came, as soon as they can. At the end their median is at most the normal one, for
// events that do not wait for others, plus three tenths of a third. And they came no later and later: at a high
// rate, a queue can grow for a whole window before its last events are later than those of a low rate. Even without
// growth the medians differ by a part of the interval, as a third may have a tick more or less.
func (o *output) keptUp(normal, third time.Duration) bool {
	first, last := o.thirds[1], o.thirds[3]
	if o.Failed > 0 || last == nil || last.P50 > (normal+3*third/10).Seconds() {
		return false
	}
	return first == nil || last.P50-first.P50 <= max(3*third/40, normal/5).Seconds()
}
