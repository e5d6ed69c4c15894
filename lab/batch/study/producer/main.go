// Command event_producer is the program that the study of the batch processor is about: a service in which
// events occur at a rate, and which sends them to a sink in batches, in one of several ways.
//
//	event_producer --variant pool-10 --event-rate 2000
//
// A run begins when event_sink connects, and ends with the connection (see event.Ask). The sink counts what
// arrives.
//
// The variants pool-N and async are as in the study's text, with their faults: all tickers of a pool start together, nothing
// bounds the batches that async has in flight, nothing is tried again, and a panic in a send ends the process.
// They are here to be measured. A service imports the library. One thing is not in the text: every event is
// accounted for, so that the measurements can be trusted.
//
// With --pacing open, each event is due at a time that is fixed in advance: a batch processor that makes its
// caller wait cannot put off the events that would have shown it. With --pacing ticker an event is made at each
// tick. All but one of the ticks that come while an Add waits are lost, as in a service that is written around a
// time.Ticker, or whose callers wait for it. In both cases the events offered are the rate times the time, so
// the number of lost events is known.
//
// One goroutine makes all events. A pacer that sleeps wakes up late if its core is busy; pace_lag_s shows how
// late, and that is not the variant's fault. If several events are due together, the time of an Add is counted
// from the end of the one before it; it then includes the tens of nanoseconds that it takes to make an event and
// to record a time.
//
// Limits: loopback only, since any client that reaches it can make it send; events are filler, not messages; log
// lines are made and counted, but written nowhere.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
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
	EventRate    int // events a second
	EventBytes   int
	Pacing       string
	Queue        int           // the most events that wait for a worker; 0: they are handed over directly
	BatchSize    int           // how many make a batch
	Interval     time.Duration // of the ticker by which waiting events are sent
	Stagger      bool          // worker i of n starts its ticker i/n of the interval later; pools only
	Attempts     int           // of the library; the others try once
	PprofSockets string        // a directory; empty: none
}

func main() { os.Exit(command(os.Args[1:])) }

const help = `event_producer makes events at a rate and sends them to a sink in batches.

Usage: event_producer [options]

  --addr HOST:PORT     where a sink connects, loopback only  (default 127.0.0.1:8083)
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
  --attempts N         how often batch tries a batch in all; the others try once
                                                             (default 1)
  --pprof-sockets DIR  serve profiles on DIR/<pid>.sock      (default: none)

It makes events while an event_sink is connected, for one at a time.
SIGTERM or SIGINT ends it at once; what a run then holds is lost.

Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`

func command(args []string) int {
	producer := program.Program{Name: "event_producer", Out: os.Stdout, Errs: os.Stderr}
	s, err := parse(args)
	if status, over := producer.Over(err, help); over {
		return status
	}
	asked := program.Asked()
	ln, status := producer.Listen("tcp", s.Addr, "addr")
	if ln == nil {
		return status
	}
	stop, status := endpoint.Serve(s.PprofSockets, endpoint.Rates{MutexFraction: 5, BlockRateNs: 1_000_000}, producer)
	if stop == nil {
		return status
	}
	defer stop()
	turn := make(chan struct{}, 1)
	return producer.Serve(ln, asked, func() error {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return err
			}
			go s.serve(conn, turn)
		}
	})
}

// turnTime is how long a sink waits for the run before its own to end: the run of a sink that was killed takes a moment.
const turnTime = 2 * time.Second

// serve gives a sink that has connected a run of its own, and does what it asks until it asks for the end or has
// gone. Two runs at once would share the core, so a turn has room for one.
func (s Settings) serve(conn net.Conn, turn chan struct{}) {
	defer conn.Close()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	var ask event.Ask
	if in.Decode(&ask) != nil {
		return
	}
	select {
	case turn <- struct{}{}:
	case <-time.After(turnTime):
		_ = out.Encode(event.Figures{Error: "it has another sink; wait for its end, or start an event_producer at another --addr"})
		return
	}
	r, err := begin(s, ask)
	if err != nil {
		<-turn
		_ = out.Encode(event.Figures{Error: err.Error()})
		return
	}
	for err == nil && !ask.Stop {
		_ = out.Encode(r.figures()) // an error means that the sink has gone, and then it asks nothing more
		err = in.Decode(&ask)
	}
	last := r.stop()
	<-turn // before the answer, since the sink may connect again at once
	_ = out.Encode(last)
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{Addr: "127.0.0.1:8083", EventRate: 2000, BatchSize: 1000, Queue: 1000, Attempts: 1}
	fs := program.NewFlags()
	fs.Loopback("addr", &s.Addr)
	fs.StringVar(&s.Variant, "variant", "async", "")
	fs.Whole("event-rate", &s.EventRate, 1, event.MaxRate)
	size := ""
	fs.OneOf("event-bytes", &size, "64", "256", "1024", "4096")
	fs.Whole("batch-size", &s.BatchSize, 1, 100_000)
	ms := 1000
	fs.Whole("interval-ms", &ms, 1, 60_000)
	fs.Whole("queue", &s.Queue, 0, 1_000_000)
	fs.OneOf("pacing", &s.Pacing, pacingOpen, pacingTicker)
	fs.BoolVar(&s.Stagger, "stagger", false, "")
	fs.Whole("attempts", &s.Attempts, 1, 100)
	fs.Func("pprof-sockets", "", func(v string) error {
		s.PprofSockets = v
		return endpoint.Check(v)
	})
	if err := fs.Read(args, "a value of --stagger is joined with =; "); err != nil {
		return s, err
	}
	s.EventBytes, _ = strconv.Atoi(size)
	s.Interval = time.Duration(ms) * time.Millisecond
	pool := workers(s.Variant) > 0
	switch {
	case !pool && s.Variant != "async" && s.Variant != "swap" && s.Variant != "batch":
		return s, fmt.Errorf("--variant: there is no variant %q; use pool-N with N from 1 to %d, async, swap or batch", s.Variant, maxWorkers)
	case s.Stagger && !pool:
		return s, fmt.Errorf("--stagger: %s has one ticker, and nothing to stagger; only pool-N has", s.Variant)
	}
	return s, nil
}
