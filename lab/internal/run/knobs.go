package run

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/tune"
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
func (p Plan) knobs(dev string, s setting.Levels) (ks []knob) {
	side := ""
	if p.onWire() {
		side = "server"
	}
	for _, k := range experiment.Turns(s) {
		switch {
		case k.Service && !tune.Runs(k.Script): // what does not run, or is not installed, needs no stopping
		case k.Service:
			ks = append(ks, knob{name: k.Script})
		case k.Setting == setting.IRQ:
			ks = append(ks, knob{k.Script, tune.Options{Dev: dev, CPUs: p.spareCores(s)}, ""})
		case k.Setting == setting.RFS:
			ks = append(ks, knob{k.Script, tune.Options{TableOnly: true, Entries: flowEntries}, ""},
				knob{k.Script, tune.Options{QueuesOnly: true, Dev: dev, Entries: flowEntries}, side})
		default:
			ks = append(ks, knob{k.Script, tune.Options{Dev: dev}, side})
		}
	}
	return ks
}

// spareCores are all of the machine's cores but the server's: those for pinned interrupts.
func (p Plan) spareCores(s setting.Levels) string {
	used, _ := cores.Parse(s[setting.ServerCPUs].String()) // checked before; none where it is unset
	var spare []int
	for c := range p.Host.Cores {
		if !slices.Contains(used, c) {
			spare = append(spare, c)
		}
	}
	return cores.Format(spare)
}

// line is the command line that changes the setting and holds it.
func (k knob) line() []string {
	return append([]string{scriptPath("tune-" + k.name + ".sh"), "hold"}, k.options.Args()...)
}

// A held knob is a changed setting. Its process restores the setting when its standard input ends, which
// also happens if the lab dies.
type held struct {
	name  string
	life  io.Closer  // its standard input
	kill  func()     // the process
	ended chan error // has how it ended
	said  bytes.Buffer
}

// Unrestored says that a setting was not restored. The machine's owner must be told, whatever else went
// wrong.
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
	var all []*held
	back = func() (failed error) {
		for _, h := range slices.Backward(all) {
			failed = joinOnOneLine(failed, h.end())
		}
		return failed
	}
	for _, k := range knobs {
		argv := k.line()
		if k.side != "" {
			argv = link.Server(argv)
		}
		h, err := hold(ctx, "tune-"+k.name+".sh", dir, argv)
		if err != nil {
			return nil, joinOnOneLine(err, back())
		}
		all = append(all, h)
	}
	return back, nil
}

// turnedWithin bounds the wait for one setting: reading and writing a few files.
const turnedWithin = 10 * time.Second

// hold starts a script, and returns when it has changed its setting.
func hold(ctx context.Context, name, dir string, argv []string) (h *held, err error) {
	// No process of package proc, which would be killed with the lab before it has restored anything.
	cmd := exec.Command(argv[0], argv[1:]...)
	h = &held{name: name, ended: make(chan error, 1), kill: func() { _ = cmd.Process.Kill() }}
	cmd.Dir, cmd.Env = dir, append(proc.Environment(), proc.Caller("LINE_RATE_STATE")...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C reaches only the lab
	cmd.Stderr = &h.said
	out, err := cmd.StdoutPipe()
	if err == nil {
		h.life, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", name, err)
	}
	turned := make(chan bool, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		turned <- line == tune.Ready+"\n"
		_, _ = io.Copy(io.Discard, out)
		h.ended <- cmd.Wait()
	}()
	select {
	case done := <-turned:
		if done {
			return h, nil
		}
		_ = h.end() // it changed nothing, and has said why
		return nil, errors.New(h.why())
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-time.After(turnedWithin):
		err = fmt.Errorf("%s had not turned its knob after %v", name, turnedWithin)
	}
	return nil, joinOnOneLine(err, h.end())
}

// why is the last line that a process which has ended said.
func (h *held) why() string {
	lines := strings.Split(strings.TrimSpace(h.said.String()), "\n")
	return lines[len(lines)-1]
}

// end has the process restore the setting, and waits for that.
func (h *held) end() error {
	h.life.Close()
	late := time.AfterFunc(turnedWithin, h.kill)
	defer late.Stop()
	if err := <-h.ended; err != nil {
		return Unrestored{fmt.Sprintf("what %s changed was not brought back (%s); lab/scripts/%s restore does it", h.name,
			cmp.Or(h.why(), err.Error()), h.name)}
	}
	return nil
}
