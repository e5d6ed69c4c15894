// Command fortio_load loads one URL through fortio's fast HTTP client and
// prints what it saw as one line of JSON.
//
//	fortio_load --url http://127.0.0.1:8083/read --connections 100
//	fortio_load --url http://127.0.0.1:8083/read --connections 100 --rate 5000
//
// It is the lab's second generator. autocannon is what the entries used; this
// one costs the client a third of the CPU for each request, or less, so it
// checks whether a throughput was the server's, and it says what autocannon
// cannot: latencies below a millisecond, and latencies at a fixed rate.
//
// Without a rate the loop is closed: each connection sends its next request
// when the answer to the last has come. With one it is open. Request i is due
// at start + i/rate, fixed before the first is sent, and its latency counts
// from then, so that the time it waited for a free connection is in it: a
// server that stalls cannot put off the requests that would have shown the
// stall. What was due and not answered by the end is counted as unanswered, and
// stands among the latencies with its age at the end, the least it can be.
//
// The limits. There is no pipelining: fortio's client has one request in flight
// on a connection. A closed loop on a saturated core measures the client, as
// with any generator. A request that began in the warm-up and ended after it
// counts in the measured part. A pacer that sleeps wakes late where its core is
// busy; how late is in send_lag_s, which has nothing to do with the server, and
// neither has a latency of that size. An answer has to fit in a buffer of 256
// KiB. fortio sets the size of each socket's receive buffer, so the kernel does
// not tune it. fortio's client tries once more, in silence, when a connection
// ended before its answer; here that is noticed by the new connection and
// counted as a reset.
//
// With --answers each answer is held against what the lab's server has for that
// route: by its length, and one in 64, or each where they are short, byte by
// byte. A body that a broken connection cut off is no success, though fortio
// takes it for one.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"fortio.org/fortio/fhttp"
	"fortio.org/log"

	"github.com/line-rate/line-rate/lab/internal/answer"
)

// The exit statuses.
const (
	exitOK         = 0
	exitFailure    = 1 // anything without a status of its own
	exitUsage      = 2 // a setting was refused
	exitNotReached = 3 // nothing listens there
)

// The bounds of the settings. They are there so that a slip of the finger is
// told at once, and not by a machine that has run out of memory.
const (
	maxConnections = 20_000
	maxSeconds     = 3600
	maxRate        = 1_000_000
	maxWorkers     = 1024
)

// Settings are what a person can choose.
type Settings struct {
	URL         string
	Connections int
	Duration    time.Duration // the measured part
	Warmup      time.Duration
	Rate        int           // requests a second; 0: a closed loop
	Workers     int           // 0: as many as there are CPUs for this process
	Timeout     time.Duration // of one request
	Answers     *answer.Set   // what may be answered; nil: it is not looked at
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	say := func(format string, a ...any) { fmt.Fprintf(stderr, "fortio_load: "+format+"\n", a...) }
	s, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return exitOK
	case err != nil:
		say("%v", err)
		return exitUsage
	}

	settle()
	setProcs(s)

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	out, err := load(ctx, s)
	switch {
	case ctx.Err() != nil:
		say("ended by a signal; nothing was measured")
		return exitFailure
	case errors.Is(err, errNotReached):
		say("%v", err)
		return exitNotReached
	case err != nil:
		say("%v", err)
		return exitFailure
	}
	line, err := json.Marshal(out)
	if err == nil {
		_, err = fmt.Fprintf(stdout, "%s\n", line)
	}
	if err != nil {
		say("%v", err)
		return exitFailure
	}
	return exitOK
}

// settle makes fortio's own settings, which are the process's. fortio tells of
// each broken connection as it breaks. Here they are counted.
var settle = sync.OnceFunc(func() {
	log.SetOutput(io.Discard)
	log.SetLogLevelQuiet(log.Critical)
	fhttp.BufferSizeKb = bufferKiB
})

// setProcs gives Go its threads. The pacer sleeps in a system call, and for
// some of that time keeps what lets a thread run Go code from the others: it
// gets one of its own.
func setProcs(s Settings) {
	n := s.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0) // Go's own: by affinity and cgroup
	}
	if s.Rate > 0 {
		n++
	}
	runtime.GOMAXPROCS(n)
}

const help = `fortio_load loads one URL and prints one line of JSON.

Usage: fortio_load --url URL [options]

  --url URL            what to request, http only
  --connections N      open connections, one request in flight on each (default 100)
  --duration SECONDS   length of the measured part                     (default 20)
  --warmup SECONDS     the same before it, not counted                 (default 0)
  --rate N             requests a second, due at times fixed before    (default 0:
                       each connection sends when its answer has come)
  --workers N          threads that send and read; 0 is one for each CPU that
                       this process may use                            (default 0)
  --answers SERVER     compare answers with those that the lab's server, fiber
                       or null, has for the route              (default: do not)
  --timeout SECONDS    after which a request is given up               (default 10)

Exit statuses: 0 measured, whatever was answered; 1 failed, or ended by a
signal; 2 a setting was refused; 3 nothing listens there.
`

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (Settings, error) {
	s := Settings{Connections: 100, Duration: 20 * time.Second, Timeout: 10 * time.Second}
	fs := flag.NewFlagSet("fortio_load", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	whole := func(dst *int, lo, hi int) func(string) error {
		return func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < lo || n > hi {
				return fmt.Errorf("give a whole number from %d to %d", lo, hi)
			}
			*dst = n
			return nil
		}
	}
	seconds := func(dst *time.Duration, least float64) func(string) error {
		return func(v string) error {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || math.IsNaN(n) || n < least || n > maxSeconds {
				return fmt.Errorf("give seconds from %g to %d", least, maxSeconds)
			}
			*dst = time.Duration(n * float64(time.Second))
			return nil
		}
	}
	fs.Func("url", "", func(v string) error {
		u, err := url.Parse(v)
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
			return errors.New("give http://HOST:PORT/PATH")
		}
		s.URL = v
		return nil
	})
	fs.Func("connections", "", whole(&s.Connections, 1, maxConnections))
	fs.Func("duration", "", seconds(&s.Duration, 0.01))
	fs.Func("warmup", "", seconds(&s.Warmup, 0))
	fs.Func("rate", "", whole(&s.Rate, 0, maxRate))
	fs.Func("workers", "", whole(&s.Workers, 0, maxWorkers))
	fs.Func("timeout", "", seconds(&s.Timeout, 0.01))
	server := fs.String("answers", "", "")
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return s, err
	case err != nil:
		return s, fmt.Errorf("%w; see --help", err)
	case fs.NArg() > 0:
		return s, fmt.Errorf("unexpected argument %q; see --help", fs.Arg(0))
	case s.URL == "":
		return s, errors.New("--url is missing; see --help")
	case *server != "":
		u, _ := url.Parse(s.URL) // it was, above
		if s.Answers, err = answer.Of(*server, u.RequestURI()); err != nil {
			return s, fmt.Errorf("--answers: %w", err)
		}
	}
	return s, nil
}

// version is that of the fortio this was built with.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "fortio.org/fortio" {
				return dep.Version
			}
		}
	}
	return "unknown"
}
