package results

import (
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Clients has the programs of each load generator.
var Clients = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.HTTPLoad: {"http_load"},
	setting.Sink: {"event_sink"}}

// Programs names what a design cannot be measured without, as a run's file calls
// it: the lab, and the programs of servers and load generators. A run may name
// more, such as the file that an interpreter runs.
func Programs(x *experiment.Experiment) []string {
	names := []string{"lab"}
	for _, levels := range x.Conditions() {
		all := x.Fixed().With(levels)
		names = append(append(names, host.Called(x.Server(all).Program)), Clients[experiment.Generator(all)]...)
	}
	return names
}
