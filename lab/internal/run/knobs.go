package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A knob is a kernel setting that a trial changes, as package tune has it.
type knob struct {
	name    string
	options tune.Options
	// inside reports whether it is changed in the server's network namespace. A
	// setting with one value for the whole machine is changed outside, where the
	// kernel shows it.
	inside bool
}

// flowEntries is the size of the RFS flow table in entry 03.
const flowEntries = 32768

// knobs are the settings that a condition changes, in the order of changing
// them.
func (p Plan) knobs(dev string, s setting.Levels) (ks []knob) {
	inside := p.onWire()
	for _, k := range experiment.Turns(s) {
		switch {
		case k.Service && !tune.Runs(k.Script): // what does not run, or is not installed, needs no stopping
		case k.Setting == setting.IRQ:
			ks = append(ks, knob{k.Script, tune.Options{Dev: dev, CPUs: p.interruptCores()}, false})
		case k.Setting == setting.RFS:
			ks = append(ks, knob{k.Script, tune.Options{TableOnly: true, Entries: flowEntries}, false},
				knob{k.Script, tune.Options{QueuesOnly: true, Dev: dev, Entries: flowEntries}, inside})
		case k.Service:
			ks = append(ks, knob{name: k.Script})
		default:
			ks = append(ks, knob{k.Script, tune.Options{Dev: dev}, inside})
		}
	}
	return ks
}

// interruptCores are the cores for pinned interrupts. If the design varies the
// server's cores, these are the cores of the largest set that the smallest
// leaves free; else all of the machine's cores but the server's.
func (p Plan) interruptCores() string {
	var narrow, wide []int
	for _, levels := range p.Experiment.Conditions() {
		cpus, _ := cores.Parse(p.Experiment.Fixed().With(levels)[setting.ServerCPUs].String()) // checked before; none where it is unset
		if narrow == nil || len(cpus) < len(narrow) {
			narrow = cpus
		}
		if len(cpus) > len(wide) {
			wide = cpus
		}
	}
	if len(wide) == len(narrow) {
		wide = nil
		for c := range p.Host.Cores {
			wide = append(wide, c)
		}
	}
	return cores.Format(slices.DeleteFunc(slices.Clone(wide), func(c int) bool { return slices.Contains(narrow, c) }))
}

// line is the command line that changes the setting and holds it.
func (k knob) line() []string {
	return append([]string{scriptPath("tune-" + k.name + ".sh"), "hold"}, k.options.Args()...)
}

// A held knob is a changed setting. Its process restores the setting when its
// standard input ends, which also happens if the lab dies.
type held struct {
	name string
	cmd  *exec.Cmd
	life io.Closer // its standard input
	out  *os.File
	said bytes.Buffer // on standard error
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
	var all []*held
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

func (l load) hold(ctx context.Context, k knob) (h *held, err error) {
	argv := k.line()
	if k.inside {
		argv = l.link.Server(argv)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	// No process of package proc, which would be killed with the lab before it has restored anything.
	h = &held{name: "tune-" + k.name + ".sh", cmd: exec.Command(argv[0], argv[1:]...), out: out}
	h.cmd.Dir, h.cmd.Env = l.dir, append(proc.Environment(), proc.Caller("LINE_RATE_STATE")...)
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C reaches only the lab
	h.cmd.Stdout, h.cmd.Stderr = theirs, &h.said
	if h.life, err = h.cmd.StdinPipe(); err == nil {
		err = h.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", h.name, err)
	}
	theirs.Close()
	_ = out.SetReadDeadline(time.Now().Add(turnedWithin))
	stop := context.AfterFunc(ctx, func() { _ = out.SetReadDeadline(time.Now()) })
	defer stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if line == tune.Ready+"\n" {
		return h, nil
	}
	failed := h.end()
	switch {
	case ctx.Err() != nil:
		return nil, joinOnOneLine(context.Cause(ctx), failed)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, joinOnOneLine(fmt.Errorf("%s had not turned its knob after %v", h.name, turnedWithin), failed)
	}
	return nil, errors.New(h.why())
}

// why is the last line that a process which has ended said.
func (h *held) why() string {
	lines := strings.Split(strings.TrimSpace(h.said.String()), "\n")
	return lines[len(lines)-1]
}

// release restores the setting.
func (h *held) release() error {
	_ = h.out.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := h.out.Read(make([]byte, 1))
	early := errors.Is(err, io.EOF)
	if err := h.end(); err != nil || !early {
		return err
	}
	return fmt.Errorf("%s ended before the trial did, and its knob was back for a part of it", h.name)
}

// end has the process restore the setting, and waits for that.
func (h *held) end() error {
	defer h.out.Close()
	h.life.Close()
	late := time.AfterFunc(turnedWithin, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	if err := h.cmd.Wait(); err != nil {
		return Unrestored{fmt.Sprintf("what %s changed was not brought back (%s); lab/scripts/%s restore does it", h.name,
			cmp.Or(h.why(), err.Error()), h.name)}
	}
	return nil
}

// unreachable says why the design cannot be carried out on this machine, as far
// as that shows without trying; empty where nothing shows.
func (p Plan) unreachable() string {
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
	if no := fewFiles(needs.Files); no != "" {
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
			options := &k.options
			if k.inside || k.name == "irq-pin" && stopped {
				// the device does not exist yet, or irqbalance will not run; but whether this user may change it is known
				options = nil
			}
			if err := tune.Reach(k.name, options); err != nil && !slices.Contains(why, err.Error()) {
				why = append(why, err.Error())
			}
		}
	}
	return why
}
