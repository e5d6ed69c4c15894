package results

import (
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Asked gives what the gates compare a trial of an experiment with. Levels are
// all of the trial's settings. serverCores is the number of the server's cores:
// prefork starts one worker on each unless a setting says otherwise. windowS is
// the measured time of the trial in seconds, all slots together.
func Asked(x *experiment.Experiment, levels setting.Levels, serverCores int, windowS float64) gate.Asked {
	a := gate.Asked{
		Generator: experiment.Generator(levels), Connections: levels.Whole(setting.Connections, 0),
		Pipelining: levels.Whole(setting.Pipelining, 1), Rate: float64(levels.Whole(setting.Rate, 0)),
		Refuses: levels.Whole(setting.SinkErrors, 0) > 0, WindowS: windowS,
	}
	if a.Generator == setting.Readers {
		a.Pipelining = 0 // nothing is in flight: events come when there are any
	}
	if a.Generator == setting.Autocannon {
		a.ResolutionS = gate.AutocannonStep
	}
	if a.Generator == setting.HTTPLoad {
		a.SlotS = x.Block.SlotS
	}
	a.Overload, _ = levels[setting.Overload].Bool()
	if list, ok := levels[setting.ServerCPUs]; ok {
		serverCores = Count(list.String())
	}
	a.Workers = x.Server(levels).Workers(levels, max(serverCores, 1))
	for _, c := range x.Claims {
		if c.Metric != "" && !slices.Contains(a.Claimed, c.Metric) {
			a.Claimed = append(a.Claimed, c.Metric)
		}
	}
	return a
}

// Calibrations gives the fastest calibration of each block, in seconds, by
// block number. A block without calibrations is absent.
func (f *File) Calibrations() map[int]float64 {
	fastest := map[int]float64{}
	for _, t := range f.Trials {
		for _, name := range []string{"calibration_before_s", "calibration_after_s"} {
			if v, ok := t.Metrics[name]; ok && (fastest[t.Block] == 0 || v < fastest[t.Block]) {
				fastest[t.Block] = v
			}
		}
	}
	return fastest
}
