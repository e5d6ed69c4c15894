// Package tune changes the kernel settings that the journal's entries change,
// and restores every one of them.
//
// Before anything is written, all present values are saved in originals.json in
// /run/line-rate (or $LINE_RATE_STATE), a file of root's that every user can read. So
// after any failure, even kill -9 between two writes, "restore" finds the first
// originals. A boot empties /run, and the kernel has its own values again. It reads each
// write back, and a value that the kernel changed is an error. A change that does not fit
// the machine (a core that does not exist, an interface without queues) is refused before
// anything is saved.
//
// "hold" is for programs: it applies, prints [Ready], and restores what it applied
// when its standard input ends or it gets a signal. If it is killed itself, the next
// command that writes, and the next run, restore what it left.
//
// In a network namespace other than the machine's own, as on the lab's wire, the
// values of an interface go with the namespace, so nothing is saved there.
package tune

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A knob is a group of kernel settings that one command changes.
type knob struct {
	name  string
	takes string // the options it accepts; help says what they mean
	// plan checks the options and lists the changes, without their present values.
	plan func(k *knob, m *system, o Options) ([]change, error)
	// A knob writes one file of each queue or interrupt of an interface, or stops a service:
	// of its names the first that exists counts.
	file     string
	services []string
}

var knobs = []*knob{
	{name: "rps", takes: "--dev --cpus", plan: planRPS, file: "rps_cpus"},
	{name: "rfs", takes: "--dev --entries --table-only --queues-only", plan: planRFS, file: "rps_flow_cnt"},
	{name: "irq-pin", takes: "--dev --cpus", plan: planInterrupts, file: affinityFile},
	{name: "irqbalance", plan: planStop, services: []string{"irqbalance"}},
	{name: "crond", plan: planStop, services: []string{"crond", "cron"}},
}

// Knobs lists the knobs' names.
func Knobs() []string { return strict.Map(knobs, func(k *knob) string { return k.name }) }

func find(name string) (*knob, error) {
	i := slices.Index(Knobs(), name)
	if i < 0 {
		return nil, fmt.Errorf("no knob %q; %s", name, strict.Instead(name, Knobs()))
	}
	return knobs[i], nil
}

// Options say how a knob is turned; each knob takes some of them.
type Options struct {
	TableOnly  bool   `xor:"part" help:"Only the flow table, where the queues are in another namespace."`
	QueuesOnly bool   `xor:"part" help:"Only the queues' shares of the table."`
	Dev        string `help:"Interface."`
	CPUs       string `name:"cpus" help:"Cores, as 0-3,8."`
	Entries    int    `help:"Size of the flow table, a power of two."`
}

// Args are the options as they are typed.
func (o Options) Args() (args []string) {
	for _, of := range []struct {
		flag  string
		value any
	}{{"--table-only", o.TableOnly}, {"--queues-only", o.QueuesOnly}, {"--dev", o.Dev}, {"--cpus", o.CPUs}, {"--entries", o.Entries}} {
		switch of.value {
		case false, "", 0:
		case true:
			args = append(args, of.flag)
		default:
			args = append(args, of.flag, fmt.Sprint(of.value))
		}
	}
	return args
}

// A change is a value's path with its present and its wanted text. A service's path is
// its unit behind [unitPrefix].
type change struct{ path, now, want string }

// turns tells whether it changes anything.
func (c change) turns() bool { return plain(c.now) != plain(c.want) }

// plan plans a knob's changes and reads the present values.
func (m *system) plan(name string, o Options) ([]change, error) {
	k, err := find(name)
	if err != nil {
		return nil, err
	}
	for _, arg := range o.Args() {
		if strings.HasPrefix(arg, "--") && !strings.Contains(k.takes, arg) {
			return nil, fmt.Errorf("it takes no %s; see lab help tune", arg)
		}
	}
	if k.services == nil && !o.TableOnly && machine.Read(m.tree, netDir, o.Dev, "ifindex") == "" {
		return nil, fmt.Errorf("--dev: there is no interface %q here", o.Dev)
	}
	all, err := k.plan(k, m, o)
	for i, c := range all {
		if err == nil {
			all[i].now, err = m.read(c.path)
		}
	}
	return all, err
}

// Reach tells beforehand whether a setting can be changed here: nil, or an error with a clause
// that fits into a sentence ("needs root: …", "eth0 has no receive queues", …). Without options
// Reach only checks whether this process may change such a setting at all.
func Reach(name string, o *Options) error {
	m, err := here()
	if err != nil {
		return err
	}
	if o == nil {
		return m.may(netDir + "*/queues")
	}
	changes, err := m.plan(name, *o)
	if err != nil {
		return err
	}
	return m.may(changes[0].path)
}

// Runs reports whether the service that a knob stops runs on this machine.
func Runs(name string) bool {
	k, err := find(name)
	return err == nil && k.running(&system{tree: os.Getenv(treeVariable)}) != ""
}

// running is the service of the knob's names that runs; empty if there is none.
func (k *knob) running(m *system) string {
	processes := strict.Collect(m.glob("/proc/[0-9]*/comm"), func(file string) string { return machine.Read(m.tree, file) })
	name, _ := strict.Find(k.services, func(name string) bool { return processes[name] })
	return name
}

// Do plans, applies or holds a knob, or restores or shows what is turned; of all where no knob is named.
func Do(action, name string, o Options, out io.Writer) error {
	m, err := here()
	if err != nil {
		return err
	}
	chosen := func(l Left) bool { return name == "" || l.Knob == name }
	switch action {
	case "show":
		return show(chosen, out)
	case "restore":
		return restore(m, chosen, out)
	}
	if m.apart && m.tree == "" {
		enterSys()
	}
	changes, err := m.plan(name, o)
	switch {
	case err != nil:
	case action == "plan":
		m.print(changes, out)
	case action == "hold":
		err = m.hold(name, changes, out)
	default:
		err = m.apply(name, changes, out)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimSpace("tune "+name), err)
	}
	return nil
}

// show lists the turned knobs.
func show(chosen func(Left) bool, out io.Writer) error {
	left, err := All()
	left = strict.Filter(left, chosen)
	for _, l := range left {
		fmt.Fprintln(out, l)
	}
	if err == nil && len(left) == 0 {
		fmt.Fprintf(out, "nothing is turned, by %s\n", stateDir())
	}
	return err
}

// restore restores the chosen knobs, and those that a killed hold has left.
func restore(m *system, chosen func(Left) bool, out io.Writer) error {
	if err := m.may(stateDir()); err != nil {
		return err
	}
	restored, err := m.restore(func(l Left) bool { return chosen(l) || l.Orphan() })
	if err == nil {
		fmt.Fprintf(out, "%s restored, all read back\n", words.Count(len(restored), "original"))
	}
	return err
}

// print lists every write that apply would make.
func (m *system) print(changes []change, out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PATH\tNOW\tWANTED")
	for _, c := range changes {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.path, plain(c.now), plain(c.want))
	}
	w.Flush()
	fmt.Fprintf(out, "plan: %s; nothing was changed\n", words.Count(strict.Count(changes, change.turns), "write"))
	if err := m.may(changes[0].path); err != nil {
		fmt.Fprintf(out, "apply would refuse: %v\n", err)
	}
}

// apply changes the settings until somebody restores them.
func (m *system) apply(knob string, changes []change, out io.Writer) error {
	if err := m.write(knob, changes, 0); err != nil {
		return err
	}
	where := "originals are in " + stateDir()
	if m.apart {
		where = "they go with this network namespace"
	}
	fmt.Fprintf(out, "%s: %s as wanted, all read back; %s\n", knob, words.Count(len(changes), "value"), where)
	return nil
}

// write saves the originals of all changes and then writes. If it fails half-way, it
// restores them. An earlier original of a path stays; but a process that is to hold the
// values refuses what has one, and nobody takes over what is held.
func (m *system) write(knob string, changes []change, pid int) error {
	if err := m.may(changes[0].path); err != nil {
		return err
	}
	return m.locked(func() error {
		if _, err := m.putBack(Left.Orphan); err != nil {
			return fmt.Errorf("what a hold that was killed has left is not restored: %w", err)
		}
		if err := m.add(knob, changes, pid); err != nil {
			return err
		}
		for _, c := range strict.Filter(changes, change.turns) {
			if err := m.set(c.path, c.want); err != nil {
				_, failed := m.putBack(func(l Left) bool {
					return slices.ContainsFunc(changes, func(c change) bool { return c.path == l.Path })
				})
				if failed != nil {
					return fmt.Errorf("%w; what was written is not put back (%w); restore tries again", err, failed)
				}
				return fmt.Errorf("%w; what was written before it is put back", err)
			}
		}
		return nil
	})
}

// add saves the originals of changes.
func (m *system) add(knob string, changes []change, pid int) (err error) {
	for i, c := range changes {
		// Read again under the lock: nobody else writes now.
		if changes[i].now, err = m.read(c.path); err != nil {
			return err
		}
		l, saved := strict.Find(m.records, func(l Left) bool { return l.Path == c.path })
		if saved && (pid != 0 || l.PID != 0) {
			return fmt.Errorf("the original of %s is held since %s: an apply is in force; restore it first: tune-%s.sh restore",
				l.Path, l.Since.Format(time.RFC3339), l.Knob)
		} else if !saved {
			m.records = append(m.records, Left{Knob: knob, Path: c.path, Original: changes[i].now,
				Since: time.Now().UTC().Truncate(time.Second), PID: pid, Start: began(pid)})
		}
	}
	return m.save()
}

// Ready is the line that a hold prints once all values are written and read back.
const Ready = "tune ready"

// hold applies the changes, waits, and restores what it applied.
func (m *system) hold(knob string, changes []change, out io.Writer) error {
	// The process catches signals until it ends, so that a second one does not stop the restoring.
	unwanted := make(chan os.Signal, 8)
	signal.Notify(unwanted, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // the reader of its output may be gone
	if err := m.write(knob, changes, os.Getpid()); err != nil {
		return err
	}
	fmt.Fprintln(out, Ready)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		unwanted <- syscall.SIGHUP
	}()
	<-unwanted
	_, err := m.restore(func(l Left) bool { return l.PID == os.Getpid() })
	return err
}
