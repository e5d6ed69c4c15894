package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// settings are what a person can choose.
type settings struct {
	addr        string
	stack       string
	prefork     bool
	index       string
	writeBuffer int
	tunings     string // names, joined by commas
	spinNs      int

	pprof         bool
	pprofAddr     string
	sockets       string // a directory; empty: none
	mutexFraction int
	blockRateNs   int
}

// The index sources.
const (
	indexPool     = "pool"
	indexGofakeit = "gofakeit"
)

const mostWorkers = 1024

// defaults are the settings of the published runs. The rates of profiles are entry 09's, whose shares can
// only be compared at these.
func defaults() settings {
	return settings{addr: "127.0.0.1:8083", stack: stackFiber, prefork: true, index: indexPool,
		writeBuffer: fiber.DefaultWriteBufferSize, pprofAddr: "127.0.0.1:6060", mutexFraction: 5, blockRateNs: 1_000_000}
}

// parse reads the flags. Every error is one line.
func parse(args []string, gomaxprocs string) (settings, error) {
	s := defaults()
	fs := program.NewFlags()
	fs.StringVar(&s.addr, "addr", s.addr, "")
	fs.OneOf("stack", &s.stack, stackFiber, stackFastHTTP, stackNetHTTP)
	fs.BoolVar(&s.prefork, "prefork", s.prefork, "")
	fs.OneOf("index", &s.index, indexPool, indexGofakeit)
	fs.Whole("write-buffer", &s.writeBuffer, 512, 1<<20)
	fs.Func("tuning", "", s.tune)
	fs.Whole("spin-ns", &s.spinNs, 0, 1_000_000_000)
	fs.BoolVar(&s.pprof, "pprof", false, "")
	fs.Loopback("pprof-addr", &s.pprofAddr)
	fs.Whole("mutex-fraction", &s.mutexFraction, 1, 1_000_000)
	fs.Whole("block-rate-ns", &s.blockRateNs, 1, 1_000_000_000)
	endpoint.Flag(fs, &s.sockets)
	if err := fs.Read(args, "a value is joined with =, as in --prefork=false; "); err != nil {
		return s, err
	}
	if !program.HostPort(s.addr) {
		return s, fmt.Errorf("--addr: %q is not accepted; give HOST:PORT, as in 127.0.0.1:8083", s.addr)
	}
	// The Go runtime ignores a GOMAXPROCS that it cannot read. Here that would change the
	// number of workers without notice.
	if n, err := strconv.Atoi(gomaxprocs); gomaxprocs != "" && (err != nil || n < 1 || n > mostWorkers) {
		return s, fmt.Errorf("GOMAXPROCS: %q is not accepted; give a whole number from 1 to %d", gomaxprocs, mostWorkers)
	}
	if s.pprof && s.sockets != "" {
		return s, errors.New("--pprof-sockets: not with --pprof, which turns prefork off; give one of the two")
	}
	if s.pprof {
		s.prefork = false
	}
	switch _, port, _ := net.SplitHostPort(s.addr); {
	case s.stack != stackFiber && s.prefork: // refused, as a comparison would take one process for many
		return s, fmt.Errorf("--stack: %s has no prefork; give --prefork=false", s.stack)
	case s.stack == stackNetHTTP && s.writeBuffer != fiber.DefaultWriteBufferSize:
		return s, fmt.Errorf("--write-buffer: net-http has one of %d bytes and no setting for it", fiber.DefaultWriteBufferSize)
	case s.stack != stackFiber && s.tunings != "":
		return s, fmt.Errorf("--tuning: %s has none; give --stack=fiber", s.stack)
	case s.prefork && port == "0":
		return s, errors.New("--addr: port 0 needs --prefork=false, since each worker would get a port of its own")
	}
	return s, nil
}

func help() string {
	w := new(strings.Builder)
	fmt.Fprint(w, `fiber_server answers HTTP requests from memory, for load tests.

Usage: fiber_server [--flag=value ...]

  --addr=HOST:PORT      address to listen on (default 127.0.0.1:8083)
  --stack=STACK         what serves the routes: fiber, the fasthttp below it, or Go's own
                        net-http; prefork is Fiber's (default fiber)
  --prefork=BOOL        one worker process for each of GOMAXPROCS, behind a master (default true)
  --index=SOURCE        how a request gets its product: from indices drawn at start, pool, or
                        from gofakeit's global faker, behind its mutex: gofakeit (default pool)
  --write-buffer=BYTES  buffer of each connection, from 512 to 1048576; a response that does
                        not fit takes more than one write (default 4096)
  --tuning=NAMES        what Fiber, fasthttp and the handlers do otherwise than as they come,
                        joined by commas; Fiber only
  --spin-ns=NS          processor time to burn on each request before its answer: a slower
                        server, to see that a lab notices
  --pprof               serve net/http/pprof, and turn prefork off so that every request is
                        in the profiled process
  --pprof-addr=HOST:PORT  its address, loopback only (default 127.0.0.1:6060)
  --pprof-sockets=DIR   every process that answers requests serves net/http/pprof on
                        DIR/<pid>.sock; prefork stays as it is
  --mutex-fraction=N    with pprof on, one in N contended mutex events is sampled (default 5)
  --block-rate-ns=N     with pprof on, one blocking event is sampled for each N ns blocked
                        (default 1000000)

GOMAXPROCS, a variable of Go's own, is the number of workers with
prefork, where each worker then runs on one, and the number of threads that run
Go code at a time without. Not set, it is the number of processors this process
may use, less if its cgroup allows less.

Tunings:
`)
	for _, one := range tunings {
		fmt.Fprintf(w, "  %-19s%s\n", one.name, one.about)
	}
	fmt.Fprint(w, "\nRoutes:\n")
	for _, r := range catalog.Routes() {
		fmt.Fprintf(w, "  %-10s%s\n", r.Path, r.About)
	}
	fmt.Fprint(w, `
SIGTERM or SIGINT stops the server and its workers within about 3 seconds and
answers the requests it has begun to read; net-http, those it has read.

Exit codes: 0 stopped when asked, 1 failed, 2 a setting was refused, 3 the
address is in use, 4 a worker was lost.
`)
	return w.String()
}
