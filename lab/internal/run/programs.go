package run

import (
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// clients has the programs of each load generator.
var clients = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.HTTPLoad: {"http_load"}, setting.Sink: {"event_sink"}}

// find looks up the programs that the experiment starts, and refuses programs
// that were not built from the sources beside them.
func (p Plan) find() (*host.Programs, error) {
	lab, names := "", []string{}
	if len(p.Lab) > 0 {
		lab, names = p.Lab[0], []string{"lab"}
	}
	for _, levels := range p.Experiment.Conditions() {
		s := p.Experiment.Fixed().With(levels)
		names = append(append(names, p.Experiment.Server(s).Program), clients[generatorOf(s)]...)
	}
	slices.Sort(names)
	return host.FindPrograms(string(p.Root), lab, slices.Compact(names))
}

// generators names an experiment's load generators, with versions.
func generators(x *experiment.Experiment, tools map[string]string) string {
	var names []string
	for _, levels := range x.Conditions() {
		if name := versioned(generatorOf(x.Fixed().With(levels)), tools); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// versioned is a load generator's name, with its version if known.
func versioned(name string, tools map[string]string) string {
	return strings.TrimSpace(name + " " + tools[name])
}
