// Command event_sink receives the events of the study of the batch processor, and
// measures them: it starts a run of an event_producer, takes in what comes over HTTP, stops
// the run, and prints the figures as one line of JSON.
//
//	event_producer --variant pool-10 --pacing ticker --queue 0
//	event_sink --producer 127.0.0.1:8083 --duration 20 --latency-ms 300
//
// Throughput is what arrives, and not what a sender's log says. Each event has a number,
// and the first arrival of each number counts; the same number again is a duplicate. At
// the end it computes whether any event is missing that the producer does not count as
// failed.
//
// It can be a bad sink: slow, by a set time for each batch, or refusing batches. Which
// batches it refuses is fixed by counting, not random, so that two trials are alike.
//
// With --find-limit it searches, before the window, for the highest rate at which events
// still arrive in time (see search). The window is then spent at that rate, so that the
// counters, and what is recorded beside them, are those of the limit.
//
// Limits: events are counted by number from 0, in an eighth of a byte each. The sink's
// figures and the producer's are read one after the other, within the time of a question
// over loopback. A producer that goes away is noticed when its figures are asked for. The
// time that an event took to arrive is computed from both programs' wall clocks, so both
// must run on one machine, and the clock must not be set meanwhile. Events that arrived
// while the producer no longer waited for the answer also count as given up there, and
// hide as many that are missing.
package main

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// maxLatency is less than the producer waits for an answer, in milliseconds.
const maxLatency = 20_000

// Settings are the flags that a person can set.
type Settings struct {
	Producer  string // its address
	Warmup    time.Duration
	Duration  time.Duration
	Latency   time.Duration // of each answer
	Errors    int           // so many of a thousand batches are refused
	FindLimit bool
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const help = `event_sink starts an event_producer, takes in its events and prints one line of JSON.

Usage: event_sink --producer HOST:PORT [options]

  --producer HOST:PORT  where the producer listens, as 127.0.0.1:8083
  --duration SECONDS    length of the measured part                (default 20)
  --warmup SECONDS      the same before it, not counted            (default 0)
  --latency-ms N        after which a batch is answered            (default 0)
  --errors-permille N   of a thousand batches, how many are refused at once
                        and not taken in                           (default 0)
  --find-limit          search for the highest rate that arrives in time, for up
                        to a minute before the measured part, which has it

SIGTERM or SIGINT stops the producer, and then the sink; nothing is printed.

Exit statuses: 0 measured; 1 failed, or ended by a signal; 2 a setting was
refused; 3 no producer is there.
`

func run(args []string, stdout, stderr io.Writer) int {
	sink := program.Program{Name: "event_sink", Out: stdout, Errs: stderr}
	s, err := parse(args)
	if status, over := sink.Over(err, help); over {
		return status
	}
	return sink.Measure(s.measure)
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{Duration: 20 * time.Second}
	fs := program.NewFlags()
	fs.Loopback("producer", &s.Producer)
	fs.Seconds("duration", &s.Duration, 0.01)
	fs.Seconds("warmup", &s.Warmup, 0)
	ms := 0
	fs.Whole("latency-ms", &ms, 0, maxLatency)
	fs.Whole("errors-permille", &s.Errors, 0, 1000)
	fs.BoolVar(&s.FindLimit, "find-limit", false, "")
	if err := fs.Read(args, ""); err != nil {
		return s, err
	}
	if s.Producer == "" {
		return s, errors.New("--producer is missing; see --help")
	}
	s.Latency = time.Duration(ms) * time.Millisecond
	return s, nil
}
