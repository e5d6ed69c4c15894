package run

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// clients is how many clients the fleet has; 0 without one.
func (p Plan) clients() int {
	if p.Clients == nil {
		return 0
	}
	return len(p.Clients.Hellos()) - 1
}

// onWire reports whether server and client are in namespaces that the lab made.
func (p Plan) onWire() bool { return p.Clients == nil && p.Experiment.Topology.Kind == "netns" }

// device is the interface that the load comes in by, outside of a wire.
func (p Plan) device() string {
	if p.Clients != nil {
		return p.Clients.Hellos()[0].Device
	}
	return topology.Interface()
}

// topology is how server and clients are joined: as the design says, or by a
// fleet's own links, on which any design can be measured.
func (p Plan) topology() results.Topology {
	switch {
	case p.unread():
		return results.Topology{Kind: "fleet"} // server and client are apart, or may be
	case p.Clients == nil:
		return results.Topology(p.Experiment.Topology)
	}
	return results.Topology{Kind: "fleet", LineRateBps: p.Clients.Hellos()[0].LineRate}
}

// describe adds to a run's file who its clients are. It has no name and no
// address of any host.
func (p Plan) describe(f *results.File) {
	if p.Clients == nil {
		return
	}
	hellos := p.Clients.Hellos()
	f.Hosts = FleetOf(p.Host.ID, hellos)
	f.Provenance.ClientCPUs = ""
	fl := &results.Fleet{Machines: machines(hellos), Clients: []results.OfFleet{}}
	for _, h := range hellos[1:] {
		fl.Clients = append(fl.Clients, results.OfFleet{CPUs: cores.Format(h.CPUs), LineRateBps: h.LineRate, Tools: h.Tools,
			Kernel: h.Kernel, MemoryBytes: h.Memory})
	}
	f.Provenance.Fleet = fl
}

// FleetOf names the hosts of a fleet by their machines' profiles. Hosts that share a
// machine go by the name of the first of them: a checkout may have drawn a name of
// its own.
func FleetOf(server string, hellos []fleet.Hello) results.Hosts {
	on := results.Hosts{Server: server, Clients: []string{}}
	of := machines(hellos)
	for i, h := range hellos[1:] {
		id := h.Profile.ID
		switch first := slices.Index(of, of[i+1]); {
		case first == 0:
			id = server
		case first <= i:
			id = on.Clients[first-1]
		}
		on.Clients = append(on.Clients, id)
	}
	on.Client = on.Clients[0]
	return on
}

// machines numbers the machines that hosts are on, in the order of the hosts.
func machines(hellos []fleet.Hello) (all []int) {
	var seen []string
	for _, h := range hellos {
		at := slices.Index(seen, h.Machine)
		if at < 0 || h.Machine == "" {
			at = len(seen)
			seen = append(seen, h.Machine)
		}
		all = append(all, at)
	}
	return all
}

// fits is an error if the fleet cannot carry out the design, though nothing of it
// is missing.
func (p Plan) fits() error {
	if p.Clients == nil {
		return nil
	}
	if a, err := netip.ParseAddr(p.Address); err != nil || !a.Is4() {
		return fmt.Errorf("the clients reach the server by an IPv4 address, and %q is none; set line_rate_address in the "+
			"inventory", p.Address)
	}
	x := p.Experiment
	for _, levels := range x.Conditions() {
		all := x.Fixed().With(levels)
		n, set := all[setting.Connections].Int()
		if clients := results.Loading(all, p.clients()); set && int(n) < clients {
			return fmt.Errorf("%s at %s: %d connections are too few for %d clients, each of which needs one; leave clients "+
				"out of the inventory", x.Name, levels.Key(), n, clients)
		}
	}
	return nil
}

// seal leaves the server's address out of a trial's reasons.
func (p Plan) seal(t *results.Trial) {
	for i := range t.Reasons {
		t.Reasons[i].Detail = p.scrubbed(t.Reasons[i].Detail)
	}
}

func (p Plan) scrubbed(text string) string {
	if p.Address == "" {
		return text
	}
	return strings.ReplaceAll(text, p.Address, results.FleetServer)
}

// sealed refuses a file that has the server's address or this host's name in it.
func (p Plan) sealed(f *results.File) error {
	if p.Clients == nil {
		return nil
	}
	words := []string{p.Address}
	if name, err := os.Hostname(); err == nil {
		short, _, _ := strings.Cut(name, ".")
		words = append(words, name, short)
	}
	return Private(f, words...)
}
