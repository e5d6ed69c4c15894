// Command event_sink receives the events of the study of the batch processor, and
// measures them: it starts an event_producer, takes in what comes over HTTP, stops the
// producer, and prints the figures as one line of JSON.
//
//	event_producer --variant pool-10 --pacing ticker --queue 0
//	event_sink --producer http://127.0.0.1:8083 --duration 20 --latency-ms 300
//
// Throughput is what arrives, and not what a sender's log says. Each event has a number,
// and the first arrival of each number counts; the same number again is a duplicate. At
// the end it computes whether any event is missing that the producer does not count as
// dropped, failed or returned.
//
// It can be a bad sink: slow, by a set time for each batch, or refusing batches. Which
// batches it refuses is fixed by counting, not random, so that two trials are alike.
//
// With --find-limit it searches, before the window, for the highest rate at which events
// still arrive in time (see search). The window is then spent at that rate, so that the
// counters, and what is recorded beside them, are those of the limit.
//
// Limits: events are counted by number, in an eighth of a byte each, so a producer that
// counts from anywhere but 0 is refused. The sink's figures and the producer's are read
// one after the other, within the time of a request over loopback. A producer that goes
// away is noticed when its figures are asked for. The time that an event took to arrive
// is computed from both programs' wall clocks, so both must run on one machine, and the
// clock must not be set meanwhile. Events that arrived while the producer no longer waited for
// the answer also count as given up there, and hide as many that are missing.
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
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
)

const (
	maxSeconds = 3600
	maxLatency = 20_000 // less than the producer waits for an answer
)

// Settings are the flags that a person can set.
type Settings struct {
	Producer  string // without a slash at its end
	Listen    string
	Warmup    time.Duration
	Duration  time.Duration
	Latency   time.Duration // of each answer
	Errors    int           // so many of a thousand batches are refused
	FindLimit bool
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const help = `event_sink starts an event_producer, takes in its events and prints one line of JSON.

Usage: event_sink --producer URL [options]

  --producer URL        the producer's control, as http://127.0.0.1:8083
  --duration SECONDS    length of the measured part                (default 20)
  --warmup SECONDS      the same before it, not counted            (default 0)
  --latency-ms N        after which a batch is answered            (default 0)
  --errors-permille N   of a thousand batches, how many are refused at once
                        and not taken in                           (default 0)
  --find-limit          search for the highest rate that arrives in time, for
                        some seconds before the measured part, which has it
  --listen HOST:PORT    where to take events in, loopback only
                                                  (default 127.0.0.1:0: any port)

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
	ln, err := net.Listen("tcp", s.Listen)
	if err != nil {
		sink.Say("--listen: %v", err)
		return program.Failure
	}
	r := newReceiver(s)
	srv := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }() // ends with the process, or with Close
	defer srv.Close()

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	out, err := measure(ctx, s, r, "http://"+ln.Addr().String()+"/")
	switch {
	case ctx.Err() != nil:
		sink.Say("ended by a signal; nothing was measured")
		return program.Failure
	case errors.Is(err, errNotReached):
		sink.Say("%v", err)
		return program.NotReached
	case err != nil:
		sink.Say("%v", err)
		return program.Failure
	}
	line, err := json.Marshal(out)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%s\n", line)
	}
	if err != nil {
		sink.Say("%v", err)
		return program.Failure
	}
	return program.OK
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{Listen: "127.0.0.1:0", Duration: 20 * time.Second}
	fs := program.NewFlags()
	seconds := func(name string, dst *time.Duration, least float64) {
		fs.Func(name, "", func(v string) error {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || math.IsNaN(n) || n < least || n > maxSeconds {
				return fmt.Errorf("give seconds from %g to %d", least, maxSeconds)
			}
			*dst = time.Duration(n * float64(time.Second))
			return nil
		})
	}
	fs.Func("producer", "", func(v string) error {
		s.Producer = strings.TrimSuffix(v, "/")
		if !program.LoopbackURL(v) || strings.Count(s.Producer, "/") != 2 || strings.ContainsAny(v, "?#") {
			return errors.New("give http://HOST:PORT with a loopback host")
		}
		return nil
	})
	fs.Loopback("listen", &s.Listen)
	seconds("duration", &s.Duration, 0.01)
	seconds("warmup", &s.Warmup, 0)
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
