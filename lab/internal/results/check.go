package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Check holds a run against the design that it was made with: its conditions and its order, its figures' names and
// ranges, and its faults, judged again. It reports the first place where they differ. Of an older design than
// today's, only order and ranges are known.
//
// It catches mistakes. A person who makes up a whole run passes any check; a second machine is the answer to that.
func (f *File) Check(x *experiment.Experiment) error {
	p := f.Provenance
	if !slices.Contains([]Ended{Decided, Budget, Blocks, Interrupted, Failing}, p.Ended) {
		return fmt.Errorf("/provenance/ended: %q is no end of a run", p.Ended)
	}
	if err := cmp.Or(f.checkOrder(), f.checkFigures()); err != nil || x.Older() {
		return err
	}
	if err := f.checkDesign(x); err != nil {
		return err
	}
	return f.checkGates(x)
}

// checkOrder draws the control and each block's order again from the run's seed, and compares them with the trials.
// The list of trials goes by block, within a block by group in the order drawn, and within a group by condition.
func (f *File) checkOrder() error {
	p, last := f.Provenance, len(f.Conditions)-1
	for i, c := range f.Conditions {
		if c.ControlOf == "" {
			continue
		}
		if i == 0 || i < last || c.ControlOf != f.Conditions[experiment.DrawControl(last, p.Seed)].ID {
			return fmt.Errorf("/conditions/%d/control_of: %q is not what the seed draws, or the A/A control is not the last",
				i, c.ControlOf)
		}
	}
	want := p.Blocks * len(f.Conditions)
	switch {
	case len(f.Trials) == 0:
		return errors.New("/trials: empty")
	case len(f.Trials) != want:
		return fmt.Errorf("/trials: %d, but %d complete blocks of %d conditions have %d", len(f.Trials), p.Blocks,
			len(f.Conditions), want)
	}
	groups, next := f.Groups(), 0
	for b := 1; b <= p.Blocks; b++ {
		for _, sequence := range experiment.DrawBlock(groups, p.Block.Rounds, p.Seed, b) {
			for _, c := range experiment.Members(sequence) {
				t := f.Trials[next]
				if want := f.Conditions[c].ID; t.Block != b || t.Condition != want {
					return fmt.Errorf("/trials/%d: %q in block %d, but the seed draws %q in block %d next", next, t.Condition,
						t.Block, want, b)
				}
				next++
			}
		}
	}
	return nil
}

// checkDesign reports a run of another design than its experiment's. A run with another route or topology must not
// decide claims about this design.
func (f *File) checkDesign(x *experiment.Experiment) error {
	levels := strict.Map(f.Conditions, func(c Condition) string { return c.Levels.Key() })
	designed := strict.Map(x.Conditions(), setting.Levels.Key)
	if last := f.Conditions[len(f.Conditions)-1]; last.ControlOf != "" {
		designed = append(designed, f.condition(last.ControlOf).Levels.Key())
	}
	plan := BlockPlan{x.Block, x.ProfileS()}
	for _, part := range []struct {
		at        string
		got, want any
	}{
		{"/settings", f.Settings.Key(), x.Fixed().Key()},
		{"/topology", f.Topology, x.Topology},
		{"/provenance/block", *f.Provenance.Block, plan},
		{"/conditions", strings.Join(levels, "; "), strings.Join(designed, "; ")},
	} {
		if part.got != part.want {
			return fmt.Errorf("%s: %+v, but the design of %s that the run was made with has %+v", part.at, part.got, x.Name,
				part.want)
		}
	}
	return nil
}

// checkGates judges each valid trial again by its recorded figures, which may close no gate. It may lack figures.
func (f *File) checkGates(x *experiment.Experiment) error {
	p := f.Provenance
	for i, t := range f.Trials {
		if !t.Valid {
			continue
		}
		for _, found := range gate.Judge(t.Metrics, Asked(x, f.LevelsOf(t), Count(p.ServerCPUs))) {
			if found.Gate != gate.NoTelemetry {
				return fmt.Errorf("/trials/%d/metrics/%s: %s, and so the gate %s makes the trial invalid; it is called valid", i,
					found.Metric, found.Detail, found.Gate)
			}
		}
	}
	return nil
}

// quotients are ratios that are no part of a whole: numbers of cores, and quotients of two windows.
var quotients = map[string]bool{"server_foreign_load": true, "client_foreign_load": true,
	"profiled_throughput_share": true, "answered_share": true, "delivered_share": true}

// checkFigures reports a reason of no gate, a figure of no metric, and one that cannot be true: a negative one, a
// share of more than all, or none where a valid trial has one.
func (f *File) checkFigures() error {
	for i, t := range f.Trials {
		for k, r := range t.Reasons {
			if !gate.Known(r.Gate) {
				return fmt.Errorf("/trials/%d/reasons/%d/gate: no gate %q", i, k, r.Gate)
			}
		}
		if n, whole := len(t.Slots), f.Provenance.Block.Rounds; t.Valid && n > 0 && n < whole {
			return fmt.Errorf("/trials/%d/slots: %d of %d, and so the trial is invalid; it is called valid", i, n, whole)
		}
		for _, figures := range []map[string]float64{t.Metrics, t.Below} {
			for _, name := range slices.Sorted(maps.Keys(figures)) {
				m, known := metric.Lookup(name)
				switch v := figures[name]; {
				case !known:
					return fmt.Errorf("/trials/%d/metrics/%s: no metric has this name", i, name)
				case v < 0 && name != "backlog_growth_per_s": // a sum over a window, which can fall
					return fmt.Errorf("/trials/%d/metrics/%s: %v is below 0", i, name, v)
				// Clocks that are read one after the other, and bursts of a shaper, put a share above 1; percents lie far above it.
				case m.Unit == metric.Ratio && v > 2 && !quotients[name]:
					return fmt.Errorf("/trials/%d/metrics/%s: %v is a share of more than all", i, name, v)
				}
			}
		}
		for _, name := range []string{"requests", "duration_s", "throughput_rps"} {
			if t.Valid && !(t.Metrics[name] > 0) {
				return fmt.Errorf("/trials/%d/metrics/%s: missing, or zero; a trial that counts has answered something", i, name)
			}
		}
	}
	return nil
}

// Asked gives what the gates compare a trial of an experiment with. Levels are all of the trial's settings.
// The server has serverCores cores, and prefork starts one worker on each unless a setting says otherwise.
func Asked(x *experiment.Experiment, levels setting.Levels, serverCores int) gate.Asked {
	a := gate.Asked{
		Generator: experiment.Generator(levels), Connections: levels.Whole(setting.Connections, 0),
		Pipelining: levels.Whole(setting.Pipelining, 1), Rate: float64(levels.Whole(setting.Rate, 0)),
		WindowS: x.Block.SlotS * float64(x.Block.Rounds), // all slots together, or one piece of the same length
	}
	switch a.Generator {
	case setting.Readers:
		a.Pipelining = 0 // nothing is in flight: events come when there are any
	case setting.Autocannon:
		a.ResolutionS = gate.AutocannonStep
	case setting.HTTPLoad:
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
