// Command event_sink receives the events of the batch study, and measures them. It starts a run of
// an event_producer, takes in what comes over HTTP, stops the run, and prints the figures as one
// line of JSON.
//
//	event_producer --variant pool-10 --pacing ticker --queue 0
//	event_sink --producer 127.0.0.1:8083 --duration 20 --latency-ms 300
//
// Throughput is what arrives, and not what a sender counts. Each event has a number, and its first arrival counts;
// later ones are duplicates. Missing is what neither arrived nor counts as failed at the producer.
//
// Limits: how long an event took is computed from both programs' wall clocks, so both must run on one machine, and
// the clock must not be set meanwhile. Events that arrived while the producer no longer waited for the answer also
// count as failed there, and hide as many that are missing.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// Settings are the flags that a person can set.
type Settings struct {
	Producer  string
	Warmup    time.Duration
	Duration  time.Duration
	Latency   time.Duration
	Errors    int // so many of a thousand batches are refused
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

SIGTERM or SIGINT stops the producer's run, and the sink; nothing is printed.

Exit statuses: 0 measured; 1 failed, or ended by a signal; 2 a setting was
refused; 3 no producer is there.
`

func run(args []string, stdout, stderr io.Writer) int {
	sink := program.Program{Name: "event_sink", Out: stdout, Errs: stderr}
	s, err := parse(args)
	if status, over := sink.Over(err, help); over {
		return status
	}
	return sink.Measure(func(ctx context.Context) (any, error) {
		if s.FindLimit {
			return s.findLimit(ctx)
		}
		return s.trial(ctx, 0, s.Warmup, s.Duration)
	})
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{Duration: 20 * time.Second}
	fs := program.NewFlags()
	fs.Loopback("producer", &s.Producer)
	fs.Seconds("duration", &s.Duration, 0.01)
	fs.Seconds("warmup", &s.Warmup, 0)
	ms := 0
	fs.Whole("latency-ms", &ms, 0, 20_000) // less than the producer waits
	fs.Whole("errors-permille", &s.Errors, 0, 1000)
	fs.BoolVar(&s.FindLimit, "find-limit", false, "")
	err := fs.Read(args, "")
	if err == nil && s.Producer == "" {
		err = errors.New("--producer is missing; see --help")
	}
	s.Latency = time.Duration(ms) * time.Millisecond
	return s, err
}
