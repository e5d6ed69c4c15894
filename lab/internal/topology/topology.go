// Package topology joins client and server: over loopback, or over a wire.
package topology

import (
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// A Link is a topology that is up.
type Link struct {
	Host      string // where the server listens and the client connects
	Command   string // command line that makes it for a person, for the record
	NetPID    int    // a thread on the server's side of the wire; 0 without a wire
	NetDevice string // the server's interface there

	PeerDevice string // the client's interface
	wire       *wire.Wire
}

// Up makes the topology.
func Up(t experiment.Topology) (*Link, error) {
	if t.Kind == "loopback" {
		return &Link{Host: "127.0.0.1"}, nil
	}
	s := wire.Spec{LineRateBps: t.LineRateBps, BurstBytes: t.BurstBytes, QueueS: t.QueueS}
	w, err := wire.Make(s)
	if err != nil {
		return nil, err
	}
	return &Link{Host: w.Host(), Command: s.Line(), NetPID: w.PID(), NetDevice: wire.ServerDevice,
		PeerDevice: wire.ClientDevice, wire: w}, nil
}

// Server and Client give the command line that runs a command on that side.
func (l *Link) Server(argv []string) []string {
	if l.wire == nil {
		return argv
	}
	return l.wire.Server(argv)
}

// Client is Server's counterpart.
func (l *Link) Client(argv []string) []string {
	if l.wire == nil {
		return argv
	}
	return l.wire.Client(argv)
}

// Lost tells whether the wire has ended by itself.
func (l *Link) Lost() bool { return l.wire != nil && l.wire.Lost() }

// Down removes the topology. It may be called twice.
func (l *Link) Down() {
	if l.wire != nil {
		l.wire.Down()
	}
}
