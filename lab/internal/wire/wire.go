// Package wire joins servers and clients on one machine by a wire of known line rate: two network
// namespaces, a pair of virtual interfaces between them, and a token bucket on each.
//
// The namespaces have no name and no file. They belong to one process, the holder, and end with it;
// the holder ends with its input, which is this program's. So a wire does not outlive the program,
// however that ends. The holder is also the first process of a PID namespace in which all that enters
// the wire runs: the kernel kills these with it.
//
// A user who may make user namespaces needs no root. Root makes a wire by its own right, since
// only then can the settings of the wire's queues be changed.
package wire

import (
	"fmt"
	"strings"
)

// The two sides. These addresses lead nowhere outside of the namespaces: see RFC 5737.
const (
	ServerAddress, ServerDevice = "192.0.2.1", "wire-server"
	ClientAddress, ClientDevice = "192.0.2.2", "wire-client"
)

// Calls with which a program that makes wires starts itself anew.
const (
	holdCall  = "hold-wire"    // RATE BURST QUEUE: makes a wire and holds it until its input ends
	EnterCall = "in-namespace" // PID -- COMMAND…: runs the command where the process PID is
)

// A Spec is what a wire is like, the same each way.
type Spec struct {
	LineRateBps float64 // bits a second
	BurstBytes  int64   // that the bucket lets pass at once
	QueueS      float64 // longest wait for the bucket, in seconds
}

// Try makes a wire and removes it: only the attempt tells whether this machine can.
func Try() error {
	w, err := Make(Spec{LineRateBps: 1e8, BurstBytes: 1 << 18, QueueS: 0.02})
	if err == nil {
		w.Down()
	}
	return err
}

// Unavailable says why this machine cannot make a wire. It is no failure of a run: what needs a wire
// is not applicable here.
type Unavailable struct{ Why string }

func (u Unavailable) Error() string { return u.Why }

// Line is the command that makes such a wire for a person.
func (s Spec) Line() string {
	return fmt.Sprintf(".tools/bin/lab wire --rate %.0f --burst %d --queue %v", s.LineRateBps, s.BurstBytes, s.QueueS)
}

// Within is the command by which a person runs another on a side ("server" or "client") of a wire. It
// has that side's name in place of the number that lab wire prints.
func Within(side, line string) string {
	return fmt.Sprintf(".tools/bin/lab %s %s -- %s", EnterCall, strings.ToUpper(side), line)
}

// Same is what makes the same wire by iproute2 in a shell of root, in namespaces that have names.
func (s Spec) Same() string {
	shaper := fmt.Sprintf("root tbf rate %.0fbit burst %d latency %vs", s.LineRateBps, s.BurstBytes, s.QueueS)
	side := func(name, address, device string) string {
		return fmt.Sprintf("ip -n %[1]s link set lo up\nip -n %[1]s addr add %[2]s/24 dev %[3]s\nip -n %[1]s link set %[3]s up\n"+
			"tc -n %[1]s qdisc add dev %[3]s %[4]s\n", name, address, device, shaper)
	}
	return "ip netns add server\nip netns add client\nip -n client link add " + ClientDevice + " type veth peer name " +
		ServerDevice + " netns server\n" + side("server", ServerAddress, ServerDevice) + side("client", ClientAddress, ClientDevice)
}
