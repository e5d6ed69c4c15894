package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/procfs"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// Ready returns, before any measurement, what would make every trial fail: Unable where this machine cannot carry out
// the design, or a program that is not there.
func (p Plan) Ready() error {
	if why := p.unreachable(); why != "" {
		return Unable{why}
	}
	_, err := p.find()
	return err
}

// programs are those of each load generator.
var programs = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.HTTPLoad: {host.Loader},
	setting.Sink: {"event_sink"}, setting.Readers: {"event_reader"}}

// find looks up the programs that the experiment starts.
func (p Plan) find() (*host.Programs, error) {
	names := []string{"lab"}
	for _, levels := range p.Experiment.Conditions() {
		levels = p.Experiment.Fixed().With(levels)
		names = append(append(names, p.Experiment.Server(levels).Program), programs[experiment.Generator(levels)]...)
	}
	slices.Sort(names)
	return host.FindPrograms(string(p.Root), p.Lab[0], slices.Compact(names))
}

// unreachable says why the design cannot be carried out on this machine, as far
// as that shows without trying; empty where nothing shows.
func (p Plan) unreachable() string {
	x, fleet := p.Experiment, p.inFleet()
	switch {
	case fleet && p.Fleet == nil:
		return "needs several machines; name those that load by --client"
	case !fleet && p.Fleet != nil:
		return "loads from this machine alone; --client is for experiments on several"
	}
	why, clients := x.Least().Lacks(p.Host.Cores, x.Topology), 0
	for _, levels := range x.Conditions() {
		s := x.Fixed().With(levels)
		clients = max(clients, s.Whole(setting.Clients, 1))
		if name := experiment.Generator(s); p.onWire() && name != setting.HTTPLoad {
			return fmt.Sprintf("a wire is read between the slots of %s; %s loads over loopback only", setting.HTTPLoad, name)
		}
		for _, k := range p.knobs(s) {
			options := &k.options
			if k.side != "" {
				options = nil // the device does not exist yet, but whether this user may change it is known
			}
			if err := tune.Reach(k.name, options); err != nil && !slices.Contains(why, err.Error()) {
				why = append(why, err.Error())
			}
		}
	}
	if fleet && len(p.Fleet.Hosts) < clients {
		why = append(why, fmt.Sprintf("needs %d clients; there are %d", clients, len(p.Fleet.Hosts)))
	}
	why = append(why, x.Lacking(string(p.Root))...)
	if p.onWire() {
		if err := wireHere(); err != nil {
			why = append(why, fmt.Sprintf("no %s topology here: %s", x.Topology.Kind, strict.Line(err.Error(), 500)))
		}
	}
	return strings.Join(why, "; ")
}

// wireHere tries once whether a wire can be made here.
var wireHere = sync.OnceValue(wire.Try)

// defaultDevice names the interface of this machine's default route, "eth0" for instance; empty if there is none. Of
// several the kernel lists that with the lowest metric first.
func defaultDevice() string {
	fs, _ := procfs.NewDefaultFS()
	routes, _ := fs.NetRoute()
	for _, r := range routes {
		if r.Destination == 0 && r.Mask == 0 {
			return r.Iface
		}
	}
	return ""
}
