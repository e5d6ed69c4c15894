package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A knob is a kernel setting that a trial changes: a tuning script's name and
// its arguments.
type knob struct {
	name string
	args []string
	// inside reports whether it is changed in the server's network namespace. A
	// setting with one value for the whole machine is changed outside, where the
	// kernel shows it.
	inside bool
}

// flowEntries is the size of the RFS flow table in entry 03.
const flowEntries = "32768"

// knobs are the settings that a condition changes, in the order of changing
// them.
func (p Plan) knobs(dev string, s setting.Levels) (ks []knob) {
	for _, k := range experiment.Turns(s) {
		// A service that does not run, or is not installed, needs no stopping.
		if !k.Service || tune.Runs(k.Script) {
			ks = append(ks, p.turning(k, dev)...)
		}
	}
	return ks
}

// turning says how a trial turns a knob.
func (p Plan) turning(k setting.Knob, dev string) []knob {
	inside := p.onWire()
	switch {
	case k.Service:
		return []knob{{name: k.Script}}
	case k.Setting == setting.IRQ:
		return []knob{{k.Script, []string{"--dev", dev, "--cpus", p.interruptCores()}, false}}
	case k.Setting == setting.RPS:
		return []knob{{k.Script, []string{"--dev", dev}, inside}}
	case k.Setting == setting.RFS:
		return []knob{{k.Script, []string{"--table-only", "--entries", flowEntries}, false},
			{k.Script, []string{"--queues-only", "--dev", dev, "--entries", flowEntries}, inside}}
	}
	panic(fmt.Sprintf("package run cannot turn %q, and a trial would be measured without it", k.Setting))
}

// interruptCores are the cores for pinned interrupts. If the design varies the
// server's cores, these are the cores of the largest set that the smallest
// leaves free; else all of the machine's cores but the server's.
func (p Plan) interruptCores() string {
	narrow, wide := p.serverCores()
	if len(wide) == len(narrow) {
		wide = wide[:0:0]
		for c := range p.Host.Cores {
			wide = append(wide, c)
		}
	}
	return cores.Format(slices.DeleteFunc(slices.Clone(wide), func(c int) bool { return slices.Contains(narrow, c) }))
}

// serverCores gives the smallest and the largest set of cores that the design's
// conditions pin the server to.
func (p Plan) serverCores() (narrow, wide []int) {
	for _, levels := range p.Experiment.Conditions() {
		list, ok := p.Experiment.Fixed().With(levels)[setting.ServerCPUs]
		if !ok {
			continue
		}
		cpus, err := cores.Parse(list.String())
		if err != nil {
			panic(err) // the experiment was checked
		}
		if narrow == nil || len(cpus) < len(narrow) {
			narrow = cpus
		}
		if len(cpus) > len(wide) {
			wide = cpus
		}
	}
	return narrow, wide
}

// line is the command line that changes the setting and holds it.
func (k knob) line() []string {
	return append([]string{scriptPath("tune-" + k.name + ".sh"), "hold"}, k.args...)
}

// A held knob is a changed setting. Its process restores the setting when its
// standard input ends, which also happens if the lab dies.
type held struct {
	proc   *proc.Proc
	lifeln *os.File
	name   string
}

// Unrestored says that a setting was not restored. The machine's owner must be
// told, whatever else went wrong.
type Unrestored struct{ Why string }

func (u Unrestored) Error() string { return u.Why }

// joinOnOneLine joins two errors on one line; either may be nil.
func joinOnOneLine(err, second error) error {
	if err == nil || second == nil {
		return errors.Join(err, second)
	}
	return fmt.Errorf("%w; and %w", err, second)
}

// turn changes a trial's kernel settings, in order. If one cannot be changed,
// those before it are restored.
func (l load) turn(ctx context.Context) (back func() error, err error) {
	var all []held
	back = func() (failed error) {
		for _, h := range slices.Backward(all) {
			failed = joinOnOneLine(failed, h.release())
		}
		return failed
	}
	for _, k := range l.knobs {
		h, err := l.hold(ctx, k)
		if err != nil {
			return nil, joinOnOneLine(err, back())
		}
		all = append(all, h)
	}
	return back, nil
}

// turnedWithin bounds the wait for one setting: reading and writing a few
// files.
const turnedWithin = 10 * time.Second

func (l load) hold(ctx context.Context, k knob) (held, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return held{}, err
	}
	argv := k.line()
	if k.inside {
		argv = l.link.Server(argv)
	}
	ready := make(chan struct{}, 1)
	// The caller's environment says where the original values are kept.
	proc, err := proc.Start(proc.Spec{Dir: l.dir, Argv: argv,
		Env: proc.Caller("HOME", "XDG_STATE_HOME", "LINE_RATE_STATE"), Stdin: r, Lines: func(line string) {
			if line == "tune ready" {
				ready <- struct{}{}
			}
		}})
	r.Close()
	if err != nil {
		w.Close()
		return held{}, fmt.Errorf("tune-%s.sh did not start: %w", k.name, err)
	}
	h := held{proc, w, k.name}
	select {
	case <-ready:
		return h, nil
	case <-proc.Done():
		select {
		case <-ready:
			return h, nil // it turned the knob before it ended; release says that it ended early
		default:
		}
		w.Close()
		return held{}, fmt.Errorf("%s", proc.LastLine())
	case <-ctx.Done():
		return held{}, joinOnOneLine(context.Cause(ctx), h.release())
	case <-time.After(turnedWithin):
		late := fmt.Errorf("tune-%s.sh had not turned its knob after %v: %s", k.name, turnedWithin, proc.LastLine())
		return held{}, joinOnOneLine(late, h.release())
	}
}

// release restores the setting.
func (h held) release() error {
	early := false
	select {
	case <-h.proc.Done():
		early = true
	default:
	}
	h.lifeln.Close()
	select {
	case <-h.proc.Done():
	case <-time.After(turnedWithin):
		_ = h.proc.Stop(h.proc.Pid(), time.Second)
		return Unrestored{fmt.Sprintf("tune-%s.sh did not end; lab/scripts/tune-%s.sh restore brings back what it changed",
			h.name, h.name)}
	}
	if err := h.proc.Err(); err != nil {
		return Unrestored{fmt.Sprintf("what tune-%s.sh changed was not brought back (%s); lab/scripts/tune-%s.sh restore "+
			"does it", h.name, h.proc.LastLine(), h.name)}
	}
	if early {
		return fmt.Errorf("tune-%s.sh ended before the trial did, and its knob was back for a part of it", h.name)
	}
	return nil
}

// Unreachable says why the design cannot be carried out on this machine, as far
// as that shows without trying; empty where nothing shows. The check takes no
// time.
func (p Plan) Unreachable() string {
	p, _ = p.without()
	x := p.Experiment
	needs := x.Least()
	if needs.Fleet {
		return "needs several machines"
	}
	why := needs.Lacks(p.Host.Cores, x.Topology)
	// A machine with too few cores need not be asked about its interrupts.
	if len(why) == 0 {
		why = p.outOfReach()
	}
	for _, l := range x.Lacking(string(p.Root)) {
		why = append(why, l.Why())
	}
	if no := enough(needs.Files, hardLimit()); no != "" {
		why = append(why, no)
	}
	return strings.Join(why, "; ")
}

// outOfReach names each of the design's kernel settings that cannot be changed,
// once.
func (p Plan) outOfReach() []string {
	dev := machine.Interface()
	var why []string
	for _, levels := range p.Experiment.Conditions() {
		all := p.knobs(dev, p.Experiment.Fixed().With(levels))
		stopped := slices.ContainsFunc(all, func(k knob) bool { return k.name == "irqbalance" })
		for _, k := range all {
			args := k.args
			if k.inside || k.name == "irq-pin" && stopped {
				// the device does not exist yet, or irqbalance will not run; but whether this user may change it is known
				args = nil
			}
			if err := tune.Reach(k.name, args); err != nil && !slices.Contains(why, err.Error()) {
				why = append(why, err.Error())
			}
		}
	}
	return why
}
