package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/floor/request"
	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// settings are what a person can choose.
type settings struct {
	addr    string
	workers int
	sockets string // a directory; empty: no profiles
	limits  request.Limits
	times   times
}

// times are how long a client may take: until its next request begins, for a head, for a
// body, and between two reads of an answer.
type times struct{ idle, head, body, write time.Duration }

var defaults = settings{
	addr:   "127.0.0.1:8083",
	limits: request.Limits{Head: 16 << 10, Fields: 100, Body: 1 << 20},
	times:  times{idle: time.Minute, head: 10 * time.Second, body: 30 * time.Second, write: 10 * time.Second},
}

const (
	mostWorkers = 1024
	leastHead   = 256
	mostHead    = inputSize // a head must fit what one read can return
	mostFields  = 10_000
	mostBody    = 1 << 40
	leastTime   = 10 * time.Millisecond
	mostTime    = time.Hour
)

func parse(args []string) (settings, error) {
	s := defaults
	s.workers = min(runtime.GOMAXPROCS(0), mostWorkers)
	body := int(s.limits.Body)
	fs := program.NewFlags()
	fs.StringVar(&s.addr, "addr", s.addr, "")
	fs.Whole("workers", &s.workers, 1, mostWorkers)
	fs.Whole("max-head", &s.limits.Head, leastHead, mostHead)
	fs.Whole("max-fields", &s.limits.Fields, 1, mostFields)
	fs.Whole("max-body", &body, 0, mostBody)
	for name, to := range map[string]*time.Duration{"idle-timeout": &s.times.idle, "head-timeout": &s.times.head,
		"body-timeout": &s.times.body, "write-timeout": &s.times.write} {
		fs.Func(name, "", func(v string) (err error) {
			if *to, err = time.ParseDuration(v); err != nil || *to < leastTime || *to > mostTime {
				return fmt.Errorf("give a time from %v to %v, as in 10s", leastTime, mostTime)
			}
			return nil
		})
	}
	fs.Func("pprof-sockets", "", func(v string) error {
		s.sockets = v
		if v == "" {
			return errors.New("give a directory that only you may enter")
		}
		return endpoint.Check(v)
	})
	if err := fs.Read(args, ""); err != nil {
		return settings{}, err
	}
	s.limits.Body = int64(body)
	if !program.HostPort(s.addr) {
		return settings{}, fmt.Errorf("--addr: %q is not accepted; give HOST:PORT, as in 127.0.0.1:8083", s.addr)
	}
	return s, nil
}

func help() string {
	var routes strings.Builder
	for _, r := range catalog.Routes() {
		fmt.Fprintf(&routes, "  %-10s%s\n", r.Path, r.About)
	}
	return fmt.Sprintf(`floor_server answers HTTP requests straight from epoll: what a correct server costs
without a framework.

Usage: floor_server [--addr HOST:PORT] [options]

  --addr HOST:PORT        address to listen on (default %s)
  --workers N             threads, each with a socket of its own if there are several
                          (default: GOMAXPROCS)
  --max-head BYTES        of a request's head, from %d to %d (default %d)
  --max-fields N          lines of a head (default %d)
  --max-body BYTES        of a request's body, which is read and dropped (default %d)
  --idle-timeout TIME     until a connection's next request begins (default %v)
  --head-timeout TIME     from a head's first byte to its last (default %v)
  --body-timeout TIME     the same for a body (default %v)
  --write-timeout TIME    in which a client must read some of its answers (default %v)
  --pprof-sockets DIR     serve profiles of the process on a unix socket in DIR

GOGC=off in the environment turns garbage collection off; no request of a route but
/compute makes any.

Routes:
%s
SIGTERM or SIGINT stops the server within about 2 seconds and answers the requests that
it has begun to read.

Exit codes: 0 stopped when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`, defaults.addr, leastHead, mostHead, defaults.limits.Head, defaults.limits.Fields, defaults.limits.Body,
		defaults.times.idle, defaults.times.head, defaults.times.body, defaults.times.write, routes.String())
}
