package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/tune"
	"github.com/line-rate/line-rate/lab/internal/wire"
)

// A knob is a kernel setting that a trial changes, as package tune has it.
type knob struct {
	name    string
	options tune.Options
	// side is "server" where it is changed in the server's network namespace. A setting with one value for
	// the whole machine is changed outside, where the kernel shows it.
	side string
}

// flowEntries is the size of the RFS flow table in entry 03.
const flowEntries = 32768

// knobs are the settings that a condition changes, in the order of changing them.
func (p Plan) knobs(s setting.Levels) (ks []knob) {
	dev, side := defaultDevice(), ""
	if p.onWire() {
		dev, side = wire.ServerDevice, "server"
	}
	for _, k := range experiment.Turns(s) {
		switch {
		case k.Service && !tune.Runs(k.Script): // what does not run, or is not installed, needs no stopping
		case k.Service:
			ks = append(ks, knob{name: k.Script})
		case k.Setting == setting.IRQ: // on the cores that servers leave free
			ks = append(ks, knob{k.Script, tune.Options{Dev: dev, CPUs: machine.Format(p.Split.Client)}, ""})
		case k.Setting == setting.RFS:
			ks = append(ks, knob{k.Script, tune.Options{TableOnly: true, Entries: flowEntries}, ""},
				knob{k.Script, tune.Options{QueuesOnly: true, Dev: dev, Entries: flowEntries}, side})
		default:
			ks = append(ks, knob{k.Script, tune.Options{Dev: dev}, side})
		}
	}
	return ks
}

// line is the command line that changes the setting and holds it.
func (k knob) line() []string {
	return append([]string{scriptPath("tune-" + k.name + ".sh"), "hold"}, k.options.Args()...)
}

// Unrestored says that a setting was not restored. The machine's owner must know, whatever else
// went wrong.
type Unrestored struct{ Why string }

func (u Unrestored) Error() string { return u.Why }

// joinOnOneLine joins two errors on one line; either may be nil.
func joinOnOneLine(err, second error) error {
	if err == nil || second == nil {
		return cmp.Or(err, second)
	}
	return fmt.Errorf("%w; and %w", err, second)
}

// turn changes a trial's kernel settings, in order, by scripts below a directory. If one cannot be changed,
// those before it are restored.
func turn(ctx context.Context, dir string, link measure.Link, knobs []knob) (back func() error, err error) {
	var all []func() error
	back = func() (failed error) {
		for _, end := range slices.Backward(all) {
			failed = joinOnOneLine(failed, end())
		}
		return failed
	}
	for _, k := range knobs {
		argv := k.line()
		if k.side != "" {
			argv = link.Server(argv)
		}
		end, err := hold(ctx, "tune-"+k.name+".sh", dir, argv)
		if err != nil {
			return nil, joinOnOneLine(err, back())
		}
		all = append(all, end)
	}
	return back, nil
}

// turnedWithin bounds the wait for one setting: reading and writing a few files.
const turnedWithin = 10 * time.Second

// hold starts a script, and returns when it has changed its setting. It restores the setting when its standard
// input ends, which also happens if the lab dies; end waits for that.
func hold(ctx context.Context, name, dir string, argv []string) (end func() error, err error) {
	turned, why := make(chan bool, 2), "" // the last line that it said
	p, err := proc.Start(proc.Spec{Dir: dir, Argv: argv, Env: proc.Caller("LINE_RATE_STATE"), Held: true, Lines: func(line string) {
		if why = line; line == tune.Ready {
			why = ""
			turned <- true
		}
	}})
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", name, err)
	}
	go func() {
		<-p.Done()
		turned <- false
	}()
	end = func() error {
		var early error
		if p.Gone() {
			early = fmt.Errorf("%s ended before the trial did, so the knob was back too soon", name)
		}
		err := p.Release(turnedWithin)
		if err = cmp.Or(p.Err(), err); err != nil {
			return joinOnOneLine(early, Unrestored{fmt.Sprintf("what %s changed was not brought back (%s); lab/scripts/%s restore does it",
				name, cmp.Or(why, err.Error()), name)})
		}
		return early
	}
	select {
	case done := <-turned:
		if done {
			return end, nil
		}
		return nil, errors.New(why) // it changed nothing
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(turnedWithin):
		err = fmt.Errorf("%s had not turned its knob after %v", name, turnedWithin)
	}
	return nil, joinOnOneLine(err, end())
}
