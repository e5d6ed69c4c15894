package run

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// onFleet is the plan as its clients have it: the servers have all of their
// host's cores, since nobody loads them from there.
func (p Plan) onFleet() Plan {
	if p.Clients != nil {
		p.Split = cores.Split{Server: slices.Clone(p.Clients.Hellos()[0].CPUs)}
	}
	return p
}

// clients is how many clients the fleet has; 0 without one.
func (p Plan) clients() int {
	if p.Clients == nil {
		return 0
	}
	return len(p.Clients.Hellos()) - 1
}

// onWire tells whether server and client are in namespaces that the lab made.
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
	if p.Clients == nil {
		return results.Topology(p.Experiment.Topology)
	}
	return results.Topology{Kind: "fleet", LineRateBps: p.Clients.Hellos()[0].LineRate}
}

// withoutClients says why the design takes other clients than there are.
func (p Plan) withoutClients() []string {
	switch x := p.Experiment; {
	case p.Clients == nil && x.Topology.Kind == "fleet":
		return []string{"needs other hosts to load this one from: lab run --topology fleet"}
	case p.Clients == nil:
		return nil
	case x.LeastClients() > p.clients():
		return []string{fmt.Sprintf("needs %d clients; the fleet has %d", x.LeastClients(), p.clients())}
	case x.Batches():
		return []string{"its servers send events to a receiver, which a fleet's clients do not run; it can be measured on one machine"}
	}
	return nil
}

// describe adds to a run's file who its clients are. It has no name and no
// address of any host.
func (p Plan) describe(f *results.File) {
	if p.Clients == nil {
		return
	}
	hellos := p.Clients.Hellos()
	f.Hosts.Clients = []string{}
	f.Provenance.ClientCPUs = ""
	fl := &results.Fleet{Machines: machines(hellos), Clients: []results.OfFleet{}}
	for _, h := range hellos[1:] {
		f.Hosts.Clients = append(f.Hosts.Clients, h.Profile.ID)
		fl.Clients = append(fl.Clients, results.OfFleet{CPUs: cores.Format(h.CPUs), LineRateBps: h.LineRate, Tools: h.Tools, Kernel: h.Kernel, MemoryBytes: h.Memory})
	}
	f.Hosts.Client = f.Hosts.Clients[0]
	f.Provenance.Fleet = fl
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
