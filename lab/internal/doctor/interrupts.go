package doctor

import (
	"slices"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// balancer looks for what moves interrupts that a design pins. A design that
// stops irqbalance itself needs nothing; the others leave it alone, so that they
// compare interrupts alone, and cannot be carried out while it runs.
func (m Machine) balancer() Finding {
	f := Finding{Level: Good, About: "interrupts", Seen: "irqbalance does not run"}
	if !tune.Runs("irqbalance") {
		return f
	}
	f.Seen = "irqbalance runs, and moves them"
	f.Bars = m.claims(func(x *experiment.Experiment, _ experiment.Claim) bool { return pins(x) })
	if len(f.Bars) > 0 {
		f.Level, f.Means = Limit, "not applicable while it runs, since interrupts are pinned in "+m.name(f.Bars)
		f.Mend = "sudo lab/scripts/tune-irqbalance.sh apply, and restore afterwards"
	}
	return f
}

// turned names kernel settings that something turned and nothing has restored. The
// service that was stopped is no fault: designs need it stopped.
func (m Machine) turned() (fs []Finding) {
	for _, l := range m.Left {
		f := Finding{Level: Fault, About: "settings", Seen: l.String(), Means: "a run refuses to begin with it",
			Mend: Restore}
		switch {
		case l.Service:
			f.Level, f.Means = Good, ""
		case l.By == tune.Orphan:
			f.Level, f.Means = Limit, "the next run restores it, where it may"
		case l.By == tune.Held:
			f.Mend = ""
		}
		fs = append(fs, f)
	}
	return fs
}

// Restore is the command that turns every setting back.
const Restore = "sudo .tools/bin/lab tune restore"

// pins tells whether a design pins interrupts and leaves irqbalance alone.
func pins(x *experiment.Experiment) bool {
	return slices.ContainsFunc(x.Conditions(), func(levels setting.Levels) bool {
		all := x.Fixed().With(levels)
		return all[setting.IRQ] == setting.String("pinned") && all[setting.IRQBalance] != setting.Bool(false)
	})
}
