package main

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A server is its loops, and the pipe whose end tells them to stop.
type server struct {
	loops      []*loop
	rest, told *os.File
}

// listen opens a listener for each worker. Several share the port, and the kernel divides
// the connections between them. Nothing else may listen there already: with a shared port,
// that would go unnoticed. On failure it says why, and returns the exit status.
func listen(p program.Program, addr string, workers int) ([]net.Listener, int) {
	first, status := p.Listen("tcp", addr, "addr")
	if first == nil {
		return nil, status
	}
	if workers == 1 {
		return []net.Listener{first}, status
	}
	addr = first.Addr().String()
	_ = first.Close() // a listener that does not share its port would keep the others from it
	shared := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		called := c.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		return errors.Join(called, err)
	}}
	var all []net.Listener
	for range workers {
		ln, err := shared.Listen(context.Background(), "tcp", addr)
		if err != nil {
			for _, ln := range all {
				_ = ln.Close()
			}
			p.Say("--addr: %v", err)
			return nil, program.Failure
		}
		all = append(all, ln)
	}
	return all, program.OK
}

// newServer makes a loop for each listener.
func newServer(s settings, lns []net.Listener, pool *catalog.Pool) (*server, error) {
	srv := &server{}
	var err error
	if srv.rest, srv.told, err = os.Pipe(); err != nil {
		return nil, err
	}
	for _, ln := range lns {
		l, err := newLoop(s, ln.(*net.TCPListener), int(srv.rest.Fd()), pool)
		if err != nil {
			return nil, err
		}
		srv.loops = append(srv.loops, l)
	}
	return srv, nil
}

// serve runs the loops until all have ended. If one fails, so do the others.
func (s *server) serve() error {
	ended := make(chan error)
	for _, l := range s.loops {
		go func() { ended <- l.run() }()
	}
	var all []error
	for range s.loops {
		err := <-ended
		if err != nil {
			s.stop()
		}
		all = append(all, err)
	}
	return errors.Join(append(all, s.rest.Close())...)
}

// stop tells the loops to answer what is under way and to end. It may be called twice.
func (s *server) stop() { _ = s.told.Close() }
