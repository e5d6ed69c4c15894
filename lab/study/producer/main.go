// Command event_producer is the program that the study of the batch processor is about: a
// service in which events occur at a rate, and which sends them to a sink in batches, in
// one of several ways (see package variants).
//
//	event_producer --variant pool-10 --event-rate 2000
//	curl -X POST '127.0.0.1:8083/start?sink=http://127.0.0.1:9000/'
//	curl -X POST '127.0.0.1:8083/rate?per_second=4000'
//	curl '127.0.0.1:8083/figures?reset=1'
//	curl -X POST 127.0.0.1:8083/stop
//
// event_sink makes these calls itself, and counts what arrives.
//
// With --pacing open, each event is due at a time that is fixed in advance: a batch
// processor that makes its caller wait cannot put off the events that would have shown
// it. With --pacing ticker an event is made at each tick. All but one of the ticks that
// come while an Add waits are lost, as in a service that is written around a time.Ticker,
// or whose callers wait for it. In both cases the events offered are the rate times the
// time, so the number of lost events is known.
//
// One goroutine makes all events. A pacer that sleeps wakes up late if its core is busy;
// pace_lag_s shows how late, and that is not the variant's fault. If several events are
// due together, the time of an Add is counted from the end of the one before it; it then
// includes the tens of nanoseconds that it takes to make an event and to record a time.
//
// Limits: loopback only, since any client that reaches it can make it send; events are
// filler, not messages; log lines are made and counted, but written nowhere.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/study/event"
	"github.com/line-rate/line-rate/lab/study/variants"
)

// The bounds of the settings.
const (
	maxRate          = 64_000_000
	maxBatch         = 100_000
	maxInterval      = 60_000
	maxQueue         = 1_000_000
	maxAttempts      = 100
	maxMutexFraction = 1_000_000
	maxBlockRateNs   = 1_000_000_000
)

// The pacings.
const (
	pacingOpen   = "open"
	pacingTicker = "ticker"
)

// Settings are the flags that a person can set.
type Settings struct {
	Addr         string
	Variant      string
	Options      variants.Options
	EventRate    int // events a second
	EventBytes   int
	Pacing       string
	PprofSockets string // a directory; empty: none
	Rates        endpoint.Rates
}

func main() { os.Exit(command(os.Args[1:])) }

const help = `event_producer makes events at a rate and sends them to a sink in batches.

Usage: event_producer [options]

  --addr HOST:PORT     address of its control, loopback only (default 127.0.0.1:8083)
  --variant NAME       how batches are sent: pool-N (N workers that wait for each
                       answer), async (one that copies its buffer and does not
                       wait), swap (the same without the copy) or batch (the
                       library)                              (default async)
  --event-rate N       events a second                       (default 2000)
  --event-bytes N      bytes of each: 64, 256, 1024 or 4096  (default 64)
  --batch-size N       events that make a batch              (default 1000)
  --interval-ms N      after which what waits is sent        (default 1000)
  --queue N            events that wait for a worker at most; 0: they are handed
                       over                                  (default 1000)
  --pacing HOW         open: events are due at times fixed before; ticker: one at
                       each tick that is taken               (default open)
  --stagger=BOOL       the tickers of a pool start one after the other
                                                             (default false)
  --when-full HOW      block: what makes events waits for room; drop: the event is
                       dropped                               (default block)
  --attempts N         how often batch tries a batch in all; the others try once
                                                             (default 1)
  --pprof-sockets DIR  serve profiles on DIR/<pid>.sock      (default: none)
  --mutex-fraction N   of profiles: one in N contended mutex events (default 5)
  --block-rate-ns N    of profiles: one blocking event for each N ns blocked
                                                             (default 1000000)

Control: POST /start?sink=http://127.0.0.1:PORT/, POST /rate?per_second=N
[&for_ms=N], GET /figures[?reset=1], POST /stop.
SIGTERM or SIGINT ends it at once; what a run then holds is lost.

Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`

func command(args []string) int {
	producer := program.Program{Name: "event_producer", Out: os.Stdout, Errs: os.Stderr}
	s, err := parse(args)
	if err == nil && s.PprofSockets != "" {
		if err = endpoint.Check(s.PprofSockets); err != nil {
			err = fmt.Errorf("--pprof-sockets: %w", err)
		}
	}
	if status, over := producer.Over(err, help); over {
		return status
	}
	asked := program.Asked()
	ln, status := producer.Listen("tcp", s.Addr, "addr")
	if ln == nil {
		return status
	}
	stop, status := endpoint.Serve(s.PprofSockets, s.Rates, producer)
	if stop == nil {
		return status
	}
	defer stop()
	c := &control{Settings: s}
	return producer.Serve(ln, asked, func() error { return c.serve(ln) })
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{
		Addr: "127.0.0.1:8083", Variant: "async", EventRate: 2000, EventBytes: 64, Pacing: pacingOpen,
		Options: variants.Options{BatchSize: 1000, Interval: time.Second, Queue: 1000, WhenFull: variants.Block, Attempts: 1},
		Rates:   endpoint.Rates{MutexFraction: 5, BlockRateNs: 1_000_000},
	}
	fs := program.NewFlags()
	oneOf := func(name string, dst *string, words ...string) {
		fs.Func(name, "", func(v string) error {
			if !slices.Contains(words, v) {
				return fmt.Errorf("give %s or %s", words[0], words[1])
			}
			*dst = v
			return nil
		})
	}
	fs.Loopback("addr", &s.Addr)
	fs.StringVar(&s.Variant, "variant", s.Variant, "")
	fs.Whole("event-rate", &s.EventRate, 1, maxRate)
	fs.Func("event-bytes", "", func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || !slices.Contains(event.Sizes, n) {
			return errors.New("give 64, 256, 1024 or 4096")
		}
		s.EventBytes = n
		return nil
	})
	fs.Whole("batch-size", &s.Options.BatchSize, 1, maxBatch)
	ms := int(s.Options.Interval.Milliseconds())
	fs.Whole("interval-ms", &ms, 1, maxInterval)
	fs.Whole("queue", &s.Options.Queue, 0, maxQueue)
	oneOf("pacing", &s.Pacing, pacingOpen, pacingTicker)
	fs.BoolVar(&s.Options.Stagger, "stagger", false, "")
	oneOf("when-full", &s.Options.WhenFull, variants.Block, variants.Drop)
	fs.Whole("attempts", &s.Options.Attempts, 1, maxAttempts)
	fs.StringVar(&s.PprofSockets, "pprof-sockets", "", "")
	fs.Whole("mutex-fraction", &s.Rates.MutexFraction, 1, maxMutexFraction)
	fs.Whole("block-rate-ns", &s.Rates.BlockRateNs, 1, maxBlockRateNs)
	if err := fs.Read(args, "a value of --stagger is joined with =; "); err != nil {
		return s, err
	}
	s.Options.Interval = time.Duration(ms) * time.Millisecond
	if err := variants.Check(s.Variant, s.Options); err != nil {
		return s, fmt.Errorf("--variant: %w", err)
	}
	return s, nil
}
