package run

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

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

// clients has the programs of each load generator.
var clients = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.HTTPLoad: {host.Loader},
	setting.Sink: {"event_sink"}, setting.Readers: {"event_reader"}}

// find looks up the programs that the experiment starts.
func (p Plan) find() (*host.Programs, error) {
	names := []string{"lab"}
	for _, levels := range p.Experiment.Conditions() {
		levels = p.Experiment.Fixed().With(levels)
		names = append(append(names, p.Experiment.Server(levels).Program), clients[experiment.Generator(levels)]...)
	}
	slices.Sort(names)
	return host.FindPrograms(string(p.Root), p.Lab[0], slices.Compact(names))
}

// unreachable says why the design cannot be carried out on this machine, as far
// as that shows without trying; empty where nothing shows.
func (p Plan) unreachable() string {
	x := p.Experiment
	needs, fleet := x.Least(), p.inFleet()
	switch {
	case fleet && p.Fleet == nil:
		return "needs several machines; name those that load by --client"
	case !fleet && p.Fleet != nil:
		return "loads from this machine alone; --client is for experiments on several"
	}
	why := needs.Lacks(p.Host.Cores, x.Topology)
	dev := defaultDevice()
	for _, levels := range x.Conditions() {
		s := x.Fixed().With(levels)
		if name := experiment.Generator(s); p.onWire() && name != setting.HTTPLoad {
			return fmt.Sprintf("a wire is read between the slots of %s; %s loads over loopback only", setting.HTTPLoad, name)
		}
		for _, k := range p.knobs(dev, s) {
			options := &k.options
			if k.side != "" {
				options = nil // the device does not exist yet, but whether this user may change it is known
			}
			if err := tune.Reach(k.name, options); err != nil && !slices.Contains(why, err.Error()) {
				why = append(why, err.Error())
			}
		}
	}
	if fleet {
		most := 0
		for _, levels := range x.Conditions() {
			most = max(most, x.Fixed().With(levels).Whole(setting.Clients, 1))
		}
		if n := len(p.Fleet.Hosts); n < most {
			why = append(why, fmt.Sprintf("needs %d clients; there are %d", most, n))
		}
	}
	why = append(why, x.Lacking(string(p.Root))...)
	if no := fewFiles(needs.Files); no != "" {
		why = append(why, no)
	}
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

// fewFiles says why a process here may not open as many files as server or client need, which raise their
// own limit to the hard one; empty if it may.
func fewFiles(needs int64) string {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Max >= uint64(needs) {
		return ""
	}
	return fmt.Sprintf("server and client need %d open files each, and the hard limit is %d; raise it: sudo prlimit "+
		"--pid $$ --nofile=%d:%d", needs, l.Max, 2*needs, 2*needs)
}
