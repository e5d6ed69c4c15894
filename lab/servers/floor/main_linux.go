// Command floor_server answers the lab's routes over HTTP/1.1 with as little code as a correct server needs. Each
// thread waits with epoll for its connections, reads once, and writes once for all the requests that the read
// returned. What a server with a framework costs beyond this one is the framework; what this one costs beyond c_floor,
// which only writes prepared bytes, is reading HTTP.
//
// Correct means that nothing is left out to be fast. Package request reads requests, wherever packets cut them. HEAD,
// HTTP/1.0, pipelines and refusals follow RFC 9110 and 9112. Package loop limits what a client can send, leave unread
// and leave undone, and a stop answers what has come. It draws a body for each request, as the Fiber server does. No
// route takes a body, so a request that has one is the last that its connection answers.
//
// With --null, and under the name null_server, it answers with canned bytes in place of all that. Then it is so fast
// that it cannot be the bottleneck: what a load generator reaches against it is the generator's own ceiling on this
// machine. A run checks this: in every trial the server's core must have room left, and the client's none.
//
// No request allocates memory, except for one that comes in parts, a path with escapes, and a body that is computed
// (/compute).
//
// Limits: Linux; no TLS, no HTTP/2, no log. It is for load tests on trusted networks.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/route"
	"github.com/line-rate/line-rate/lab/servers/floor/loop"
)

// nullName is the name under which the program answers with canned bytes.
const nullName = "null_server"

// farewell is how long a stop lets clients go on that have to close.
const farewell = 500 * time.Millisecond

// settings are what a person can choose.
type settings struct {
	addr    string
	workers int
	timeout time.Duration
	sockets string // a directory; empty: no profiles
	null    bool
}

const help = `%s answers HTTP requests straight from epoll: what a correct server costs
without a framework.

Usage: %[1]s [--addr HOST:PORT] [options]

  --addr HOST:PORT     address to listen on (default 127.0.0.1:8083)
  --workers N          threads (default: GOMAXPROCS; with --null one)
  --timeout TIME       how long a client may take to send a request, or to read some of
                       its answers (default 2m)
  --pprof-sockets DIR  serve profiles of the process on a unix socket in DIR
  --null               answer with canned bytes, for the ceiling of a load generator:
                       heads are not read beyond their path, of a route's bodies the same
                       is always sent, and the date never changes. It is the default under
                       the name null_server

Routes: %s
With --null: %s

GOGC=off in the environment turns garbage collection off; no request of a route but
/compute makes any. SIGTERM or SIGINT stops the server within half a second, and what
has come is answered; with --null it stops at once.

Exit codes: 0 stopped when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`

func main() { os.Exit(run(filepath.Base(os.Args[0]), os.Args[1:])) }

func run(name string, args []string) int {
	floor := program.Program{Name: name, Out: os.Stdout, Errs: os.Stderr}
	s, err := parse(name, args)
	if status, over := floor.Over(err, fmt.Sprintf(help, name, route.Paths(false), route.Paths(true))); over {
		return status
	}
	asked := program.Asked()
	ln, status := floor.Listen("tcp", s.addr, "addr")
	if ln == nil {
		return status
	}
	stop, status := endpoint.Serve(s.sockets, endpoint.Rates{}, floor)
	if stop == nil {
		return status
	}
	defer stop()
	// With more, each goroutine that is ready would wake one more thread to look for others.
	runtime.GOMAXPROCS(s.workers)
	var srv *loop.Server
	pool, err := catalog.NewPool(catalog.Seed)
	if err == nil {
		srv, err = newServer(s, ln.(*net.TCPListener), pool)
	}
	if err != nil {
		floor.Say("%v", err)
		return program.Failure
	}
	floor.Say("worker pid=%d listening addr=%s", os.Getpid(), ln.Addr())
	go func() {
		<-asked
		srv.Stop()
	}()
	if err := srv.Serve(); err != nil {
		floor.Say("serve: %v", err)
		return program.Failure
	}
	return program.OK
}

func parse(name string, args []string) (settings, error) {
	s := settings{addr: "127.0.0.1:8083", timeout: 2 * time.Minute, null: name == nullName}
	fs := program.NewFlags()
	fs.StringVar(&s.addr, "addr", s.addr, "")
	fs.BoolVar(&s.null, "null", s.null, "")
	fs.Whole("workers", &s.workers, 1, 1024)
	fs.Func("timeout", "", func(v string) (err error) {
		if s.timeout, err = time.ParseDuration(v); err != nil || s.timeout < 10*time.Millisecond || s.timeout > time.Hour {
			return errors.New("give a time from 10ms to 1h, as in 10s")
		}
		return nil
	})
	fs.Func("pprof-sockets", "", func(v string) error {
		s.sockets = v
		return endpoint.Check(v)
	})
	if err := fs.Read(args, ""); err != nil {
		return settings{}, err
	}
	if !program.HostPort(s.addr) {
		return settings{}, fmt.Errorf("--addr: %q is not accepted; give HOST:PORT, as in 127.0.0.1:8083", s.addr)
	}
	if s.workers == 0 {
		if s.workers = 1; !s.null {
			s.workers = runtime.GOMAXPROCS(0)
		}
	}
	return s, nil
}

// newServer makes the server that the settings ask for. It takes the listener over.
func newServer(s settings, ln *net.TCPListener, pool *catalog.Pool) (*loop.Server, error) {
	if s.null {
		all := []loop.Handler{newCanned(pool, time.Now())} // which has no state, so that threads can share it
		return loop.New(ln, s.timeout, 0, slices.Repeat(all, s.workers)...)
	}
	all := make([]loop.Handler, s.workers)
	for i := range all {
		all[i] = newAnswers(pool)
	}
	return loop.New(ln, s.timeout, farewell, all...)
}
