// Command floor_server answers the lab's routes over HTTP/1.1 with as little of its own as
// a correct server can do with: threads that each wait with epoll for their connections,
// one read, and one write for all the requests that it returned. What a server with a
// framework costs beyond this one is the framework; what this one costs beyond c_floor,
// which only writes prepared bytes, is reading HTTP.
//
// Correct means that nothing is left out to be fast. Requests are read as package request
// does, however they are cut; HEAD, HTTP/1.0, pipelines, bodies, interim answers, and
// refusals are as RFC 9110 and 9112 have them; there is a limit for everything that a
// client can send or leave unread, and a time for everything that it can leave undone;
// a stop answers what is under way. Bodies are drawn for each request, as the Fiber server
// draws them.
//
// No request allocates memory, except that a body which is computed for each request
// (/compute) does. System calls are made without telling Go's scheduler: those of a request
// cannot block, and see system_linux.go for the wait.
//
// Limits: Linux; no TLS, no HTTP/2, no log. It is for load tests on trusted networks. A
// connection stays with the thread that the kernel gave it to, however busy that is. A time
// is over up to a quarter of the shortest one too late.
package main

import (
	"os"
	"runtime"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	floor := program.Program{Name: "floor_server", Out: os.Stdout, Errs: os.Stderr}
	s, err := parse(args)
	if status, over := floor.Over(err, help()); over {
		return status
	}
	asked := program.Asked()
	lns, status := listen(floor, s.addr, s.workers)
	if lns == nil {
		return status
	}
	if s.sockets != "" {
		stop, err := endpoint.Serve(s.sockets, endpoint.Rates{}, floor.Say)
		if err != nil {
			floor.Say("--pprof-sockets: %v", err)
			return program.Failure
		}
		defer stop()
	}
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		floor.Say("%v", err)
		return program.Failure
	}
	// With more, each goroutine that is ready would wake one more thread to look for others.
	runtime.GOMAXPROCS(s.workers)
	addr := lns[0].Addr()
	srv, err := newServer(s, lns, pool)
	if err != nil {
		floor.Say("%v", err)
		return program.Failure
	}
	floor.Say("worker pid=%d listening addr=%s", os.Getpid(), addr)
	served := make(chan error, 1)
	go func() { served <- srv.serve() }()
	select {
	case <-asked:
		srv.stop()
		err = <-served
	case err = <-served:
	}
	if err != nil {
		floor.Say("serve: %v", err)
		return program.Failure
	}
	return program.OK
}
