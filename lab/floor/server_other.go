//go:build !linux

package main

import (
	"errors"
	"net"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

const inputSize = 64 << 10

type server struct{}

func listen(p program.Program, addr string, _ int) ([]net.Listener, int) {
	ln, status := p.Listen("tcp", addr, "addr")
	if ln == nil {
		return nil, status
	}
	return []net.Listener{ln}, status
}

func newServer(settings, []net.Listener, *catalog.Pool) (*server, error) {
	return nil, errors.New("floor_server needs Linux")
}

func (*server) serve() error { return nil }
func (*server) stop()        {}
