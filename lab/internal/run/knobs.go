package run

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A knob is a kernel setting that a trial turns: a tuning script's name and its
// arguments.
type knob struct {
	name string
	args []string
	// inside is whether it is turned on the server's side of the wire. What has
	// one value for the whole machine is turned outside, where the kernel shows it.
	inside bool
}

// flowEntries is the size of the table of flows that entry 03 gives RFS.
const flowEntries = "32768"

// knobs are those that a condition turns, in the order in which they are.
func knobs(x *experiment.Experiment, dev string, s setting.Levels) []knob {
	on := func(name string) bool { b, _ := s[name].Bool(); return b }
	off := func(name string) bool { b, ok := s[name].Bool(); return ok && !b }
	inside := x.Topology.Kind == "netns"
	var ks []knob
	if off(setting.IRQBalance) {
		ks = append(ks, knob{name: "irqbalance"})
	}
	if off(setting.Crond) {
		ks = append(ks, knob{name: "crond"})
	}
	if s[setting.IRQ] == setting.String("pinned") {
		ks = append(ks, knob{name: "irq-pin", args: []string{"--dev", dev, "--cpus", interruptCores(x)}})
	}
	if on(setting.RPS) {
		ks = append(ks, knob{"rps", []string{"--dev", dev}, inside})
	}
	if on(setting.RFS) {
		ks = append(ks,
			knob{"rfs", []string{"--table-only", "--entries", flowEntries}, false},
			knob{"rfs", []string{"--queues-only", "--dev", dev, "--entries", flowEntries}, inside})
	}
	return ks
}

// interruptCores are the cores that the design's server leaves free under its
// narrowest level, up to the most that it ever has: there the interrupts go.
func interruptCores(x *experiment.Experiment) string {
	var narrow, wide []int
	for _, levels := range x.Conditions() {
		list, ok := x.Fixed().With(levels)[setting.ServerCPUs]
		if !ok {
			continue
		}
		cpus, err := cores.Parse(list.String())
		if err != nil {
			continue // the experiment was checked
		}
		if narrow == nil || len(cpus) < len(narrow) {
			narrow = cpus
		}
		if len(cpus) > len(wide) {
			wide = cpus
		}
	}
	free := slices.DeleteFunc(slices.Clone(wide), func(c int) bool { return slices.Contains(narrow, c) })
	return cores.Format(free)
}

// line is the command line that turns the knob and holds it.
func (k knob) line() []string {
	return append([]string{scriptPath("tune-" + k.name + ".sh"), "hold"}, k.args...)
}

// A held knob is one that is turned: its process brings it back when its
// standard input ends, which also is how it learns that the lab has died.
type held struct {
	proc   *leash.Proc
	lifeln *os.File
	name   string
}

// turn turns the knobs of a trial, in order. What was turned comes back if a
// later one cannot be.
func (l load) turn(ctx context.Context) (back func() error, err error) {
	var all []held
	back = func() error {
		var failed error
		for _, h := range slices.Backward(all) {
			if err := h.release(); err != nil && failed == nil {
				failed = err
			}
		}
		all = nil
		return failed
	}
	for _, k := range l.knobs {
		h, err := l.hold(ctx, k)
		if err != nil {
			_ = back()
			return nil, err
		}
		all = append(all, h)
	}
	return back, nil
}

// turnedWithin bounds the wait for a knob: reading and writing a few files.
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
	proc, err := leash.Start(leash.Spec{Dir: l.dir, Argv: argv, Stdin: r, Lines: func(line string) {
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
		w.Close()
		return held{}, fmt.Errorf("%s", proc.LastLine())
	case <-ctx.Done():
		_ = h.release()
		return held{}, context.Cause(ctx)
	case <-time.After(turnedWithin):
		_ = h.release()
		return held{}, fmt.Errorf("tune-%s.sh had not turned its knob after %v: %s", k.name, turnedWithin, proc.LastLine())
	}
}

func (h held) release() error {
	h.lifeln.Close()
	select {
	case <-h.proc.Done():
	case <-time.After(turnedWithin):
		_ = h.proc.Stop(h.proc.Pid(), time.Second)
		return fmt.Errorf("tune-%s.sh did not end; lab/scripts/tune-%s.sh restore brings back what it changed", h.name, h.name)
	}
	if err := h.proc.Err(); err != nil {
		return fmt.Errorf("what tune-%s.sh changed was not brought back (%s); lab/scripts/tune-%s.sh restore does it", h.name, h.proc.LastLine(), h.name)
	}
	return nil
}

// unreachable says why the design cannot be carried out on this machine; empty
// where it can.
func (p Plan) unreachable() string {
	x := p.Experiment
	var why []string
	say := func(err error) {
		if err != nil && !slices.Contains(why, err.Error()) {
			why = append(why, err.Error())
		}
	}
	dev := topology.Interface()
	for _, levels := range x.Conditions() {
		s := x.Fixed().With(levels)
		if list, ok := s[setting.ServerCPUs]; ok {
			cpus, err := cores.Parse(list.String())
			if err == nil && len(cpus) > 0 && slices.Max(cpus) >= p.Host.Cores {
				err = fmt.Errorf("needs %d cores; this host has %d", slices.Max(cpus)+1, p.Host.Cores)
			}
			say(err)
		}
		for _, k := range knobs(x, dev, s) {
			if k.inside {
				// The device is not made yet; whether this user may is known.
				say(tune.Reach(k.name, nil))
			} else {
				say(tune.Reach(k.name, k.args))
			}
		}
	}
	if x.Topology.Kind == "fleet" {
		why = append(why, "needs a second machine to load this one from, which the lab does not drive yet")
	}
	return strings.Join(why, "; ")
}
