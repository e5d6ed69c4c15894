package run

import (
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/provenance"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// programs are the command names of the servers' processes.
var programs = map[string]string{setting.Fiber: "fiber_server", setting.Null: "null_server", setting.Producer: "event_producer"}

// clients are the programs of the load generators.
var clients = map[string][]string{setting.Autocannon: {"node", "autocannon"}, setting.Fortio: {"fortio_load"}, setting.Sink: {"event_sink"}}

func serverOf(s setting.Levels) string {
	if name, ok := s[setting.Server]; ok {
		return name.String()
	}
	return setting.Fiber
}

// find looks up the programs that the experiment starts, and refuses those that
// were not built from the sources that lie beside them.
func (p Plan) find() (*provenance.Programs, error) {
	lab, names := "", []string{}
	if len(p.Lab) > 0 {
		lab, names = p.Lab[0], []string{"lab"}
	}
	for _, levels := range p.Experiment.Conditions() {
		s := p.Experiment.Fixed().With(levels)
		names = append(append(names, programs[serverOf(s)]), clients[generatorOf(s)]...)
	}
	slices.Sort(names)
	return provenance.Find(string(p.Root), lab, slices.Compact(names))
}

// own is an error if the server's processes are not of the program that was
// found before the run. Not all of them may be up yet.
func (l load) own(s *server) error {
	if l.found == nil {
		return nil
	}
	for _, pid := range s.processes() {
		if l.found.Other(l.program, pid) {
			return fmt.Errorf("%s was replaced during the run, so its figures are of two programs; run again and build nothing meanwhile", l.program)
		}
	}
	return nil
}
