// Command event_producer is the subject of the study of the batch processor: a service in which
// events occur at a rate, and which sends them to a sink in batches, in one of several ways. The
// sink counts what arrives.
//
//	event_producer --variant pool-10 --event-rate 2000
//
// The variants pool-N and async are as in the study's text, with their faults. All tickers of a pool start together,
// and nothing bounds the batches that async has in flight. Nothing tries a batch again, and a panic in a send ends
// the process. The lab measures them; a service imports the library. One thing is not in the text: every event is
// accounted for, so that the measurements can be trusted.
//
// With --pacing open, each event is due at a time that is fixed in advance: a batch processor that makes its caller
// wait cannot put off the events that would have shown it. With --pacing ticker, all but one of the events that fall
// due while an Add waits are lost, as in a service whose callers wait for it. The producer computes them, since a
// time.Ticker of 2000 ticks a second delivered 905 in an idle process. So the number of events offered is known.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/batch/study/event"
	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// Settings are the flags that a person can set.
type Settings struct {
	Addr         string
	Variant      string
	EventRate    int
	EventBytes   string
	Pacing       string
	Queue        int
	BatchSize    int
	Interval     time.Duration
	Stagger      bool
	Attempts     int
	PprofSockets string
	Workers      int // of the variant
}

func main() { os.Exit(command(os.Args[1:])) }

const help = `event_producer makes events at a rate and sends them to a sink in batches.

Usage: event_producer [options]

  --addr HOST:PORT     where a sink connects, loopback only   (default 127.0.0.1:8083)
  --variant NAME       pool-N: N workers that wait for each answer; async: one that
                       copies its buffer and does not wait; swap: the same without
                       the copy; batch: the library           (default async)
  --event-rate N       events a second                        (default 2000)
  --event-bytes N      of each: 64, 256, 1024 or 4096         (default 64)
  --batch-size N       events that make a batch               (default 1000)
  --interval-ms N      after which what waits is sent         (default 1000)
  --queue N            events that wait for a worker at most  (default 1000)
  --pacing HOW         open: events are due at fixed times; ticker: all but one of
                       those due while an Add waits are lost  (default open)
  --stagger=BOOL       a pool's tickers start one by one      (default false)
  --attempts N         how often batch, alone, tries a batch  (default 1)
  --pprof-sockets DIR  serve profiles on DIR/<pid>.sock       (default: none)

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
	return producer.Serve(ln, asked, func() error {
		for {
			conn, err := ln.Accept()
			if err == nil {
				err = s.serve(conn)
			}
			if err != nil {
				return err
			}
		}
	})
}

// serve gives a sink a run of its own and does what it asks. Two runs at once would share the core: the next waits.
func (s Settings) serve(conn net.Conn) error {
	defer conn.Close()
	in, out := json.NewDecoder(conn), json.NewEncoder(conn)
	var ask event.Ask
	if in.Decode(&ask) != nil {
		return nil
	}
	answer, err := begins[s.EventBytes](s, ask)
	if err != nil {
		return err
	}
	for err == nil && !ask.Stop {
		_ = out.Encode(answer(ask)) // an error means that the sink has gone, and then it asks nothing more
		err = in.Decode(&ask)
	}
	_ = out.Encode(answer(event.Ask{Stop: true}))
	return nil
}

// variants has the names of the variants, and of a pool the number of its workers.
var variants = regexp.MustCompile(`^(?:async|swap|batch|pool-([1-9]\d{0,2}|1000))$`)

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{Addr: "127.0.0.1:8083", Variant: "async", EventRate: 2000, BatchSize: 1000, Queue: 1000, Workers: 1,
		Attempts: 1}
	fs := program.NewFlags()
	fs.Loopback("addr", &s.Addr)
	fs.Func("variant", "", func(v string) error {
		found := variants.FindStringSubmatch(v)
		if found == nil {
			return errors.New("give pool-N with N from 1 to 1000, async, swap or batch")
		}
		s.Variant = v
		s.Workers, _ = strconv.Atoi(cmp.Or(found[1], "1"))
		return nil
	})
	fs.Whole("event-rate", &s.EventRate, 1, event.MaxRate)
	fs.OneOf("event-bytes", &s.EventBytes, "64", "256", "1024", "4096")
	fs.Whole("batch-size", &s.BatchSize, 1, 100_000)
	ms := 1000
	fs.Whole("interval-ms", &ms, 1, 60_000)
	fs.Whole("queue", &s.Queue, 0, 1_000_000)
	fs.OneOf("pacing", &s.Pacing, "open", "ticker")
	fs.BoolVar(&s.Stagger, "stagger", false, "")
	fs.Whole("attempts", &s.Attempts, 1, 100)
	fs.Func("pprof-sockets", "", func(v string) error {
		s.PprofSockets = v
		return endpoint.Check(v)
	})
	err := fs.Read(args, "a value of --stagger is joined with =; ")
	s.Interval = time.Duration(ms) * time.Millisecond
	return s, err
}
