// Package tune changes the kernel settings that the journal's entries change,
// and restores every one of them.
//
// Before anything is written, all present values are saved in originals.json in
// /run/line-rate (or $LINE_RATE_STATE), a file of root's that every user can read.
// So after any failure, even kill -9 between two writes, "restore" finds the first
// originals. A boot empties /run, and the kernel has its own values again. Each
// write is read back, and a value that the kernel changed is an error. A change
// that does not fit the machine (a core that does not exist, an interface without
// queues) is refused before anything is saved.
//
// "hold" is for programs: it applies, prints [Ready], and restores what it applied
// when its standard input ends or it gets a signal. If it is killed itself, the next
// command that writes, and the next run, restore what it left.
//
// In a network namespace other than the machine's own, as on the lab's wire, the
// values of an interface go with the namespace, so nothing is saved there.
package tune

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A knob is a group of kernel settings that one command changes.
type knob struct {
	name  string
	takes string // the options it accepts; help says what they mean
	// plan checks the options and lists the changes, without their present values.
	plan func(k *knob, m *machine, o Options) ([]change, error)
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
	TableOnly  bool   `help:"Only the flow table, where the queues are in another namespace."`
	QueuesOnly bool   `help:"Only the queues' shares of the table."`
	Dev        string `help:"Interface."`
	CPUs       string `name:"cpus" help:"Cores, as 0-3,8."`
	Entries    int    `help:"Size of the flow table, a power of two."`
}

// Args are the options as they are typed.
func (o Options) Args() (args []string) {
	if o.TableOnly {
		args = append(args, "--table-only")
	}
	if o.QueuesOnly {
		args = append(args, "--queues-only")
	}
	if o.Dev != "" {
		args = append(args, "--dev", o.Dev)
	}
	if o.CPUs != "" {
		args = append(args, "--cpus", o.CPUs)
	}
	if o.Entries != 0 {
		args = append(args, "--entries", fmt.Sprint(o.Entries))
	}
	return args
}

// Unavailable says why a setting cannot be changed on this machine or in this
// namespace. Claims that need it are then not applicable.
type Unavailable struct{ Why string }

func (u Unavailable) Error() string { return u.Why }

func unavailable(format string, args ...any) error { return Unavailable{fmt.Sprintf(format, args...)} }

// A change is a value's path with its present and its wanted text. A service's path is
// its unit behind [unitPrefix].
type change struct{ path, now, want string }

// changes plans the knob's changes and reads the present values.
func (k *knob) changes(m *machine, o Options) ([]change, error) {
	for _, arg := range o.Args() {
		if strings.HasPrefix(arg, "--") && !strings.Contains(k.takes, arg) {
			return nil, fmt.Errorf("it takes no %s; see lab help tune", arg)
		}
	}
	all, err := k.plan(k, m, o)
	if err != nil {
		return nil, err
	}
	for i, c := range all {
		all[i].now, err = m.read(c.path)
		if errors.Is(err, fs.ErrNotExist) {
			err = unavailable("this kernel has no %s", c.path)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reach checks the conditions for writing, before anything is written.
func (k *knob) reach(m *machine, path string) error {
	if pid := m.process("irqbalance"); k.file == affinityFile && pid != "" {
		return unavailable("irqbalance runs (process %s) and would move the interrupts again; stop it first: "+
			"tune-irqbalance.sh apply", pid)
	}
	return m.root(path)
}

// Reach tells beforehand whether a setting can be changed here: nil, or
// Unavailable with a clause that fits into a sentence ("needs root: …", "eth0
// has no receive queues", …). Options that are wrong on every machine give
// another error. Without options Reach only checks whether this process may change
// such a setting at all.
func Reach(name string, o *Options) error {
	k, err := find(name)
	if err != nil {
		return err
	}
	m, err := here()
	if err != nil {
		return err
	}
	if o == nil {
		return m.root(netDir + "*/queues")
	}
	changes, err := k.changes(m, *o)
	if err != nil {
		return err
	}
	return k.reach(m, changes[0].path)
}

// Runs reports whether the service that a knob stops runs on this machine.
func Runs(name string) bool {
	k, err := find(name)
	return err == nil && k.runs(&machine{tree: os.Getenv(treeVariable)})
}

func (k *knob) runs(m *machine) bool {
	return slices.ContainsFunc(k.services, func(n string) bool { return m.process(n) != "" })
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
		return m.restore(chosen, out)
	}
	k, err := find(name)
	if err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	if m.apart && m.tree == "" {
		enterSys()
	}
	changes, err := k.changes(m, o)
	switch {
	case err != nil:
	case action == "plan":
		err = k.print(m, changes, out)
	case action == "hold":
		err = k.hold(m, changes, out)
	default:
		err = k.apply(m, changes, out)
	}
	if err != nil {
		return fmt.Errorf("tune %s: %w", name, err)
	}
	return nil
}

// print lists every write that apply would make.
func (k *knob) print(m *machine, changes []change, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PATH\tNOW\tWANTED")
	writes := 0
	for _, c := range changes {
		fmt.Fprintf(w, "%s\t%s\t%s\n", c.path, plain(c.now), plain(c.want))
		if plain(c.now) != plain(c.want) {
			writes++
		}
	}
	w.Flush()
	fmt.Fprintf(out, "plan: %s; nothing was changed\n", words.Count(writes, "write"))
	if err := k.reach(m, changes[0].path); err != nil {
		fmt.Fprintf(out, "apply would refuse: %v\n", err)
	}
	return nil
}

// show lists what is turned.
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

func (m *machine) restore(chosen func(Left) bool, out io.Writer) error {
	if err := m.root(stateDir()); err != nil {
		return err
	}
	return m.locked("", func(s *state) error {
		restored, err := s.restore(m, chosen)
		if err == nil {
			fmt.Fprintf(out, "%s restored, all read back\n", words.Count(len(restored), "original"))
		}
		return err
	})
}

// apply changes the settings until somebody restores them.
func (k *knob) apply(m *machine, changes []change, out io.Writer) error {
	if err := k.write(m, changes, 0); err != nil {
		return err
	}
	where := "originals are in " + stateDir()
	if m.passes(changes[0].path) {
		where = "they go with this network namespace"
	}
	fmt.Fprintf(out, "%s: %s as wanted, all read back; %s\n", k.name, words.Count(len(changes), "value"), where)
	return nil
}

// write saves the originals of all changes and then writes. If it fails half-way, it
// restores them. An earlier original of a path stays; but a process that is to hold the
// values refuses what has one, and nobody takes over what is held.
func (k *knob) write(m *machine, changes []change, pid int) error {
	if err := k.reach(m, changes[0].path); err != nil {
		return err
	}
	return m.locked(changes[0].path, func(s *state) error {
		if s.stuck != nil {
			return fmt.Errorf("what a hold that was killed has left is not restored: %w", s.stuck)
		}
		if err := s.add(m, k.name, changes, pid); err != nil {
			return err
		}
		for _, c := range changes {
			if plain(c.now) == plain(c.want) {
				continue
			}
			if err := m.set(c.path, c.want); err != nil {
				if _, failed := s.restore(m, among(changes)); failed != nil {
					return fmt.Errorf("%w; what was written is not put back (%w); restore tries again", err, failed)
				}
				return fmt.Errorf("%w; what was written before it is put back", err)
			}
		}
		return nil
	})
}

// add saves the originals of changes.
func (s *state) add(m *machine, knob string, changes []change, pid int) (err error) {
	for i, c := range changes {
		// Read again under the lock: nobody else writes now.
		if changes[i].now, err = m.read(c.path); err != nil {
			return err
		}
		l, saved := strict.Find(s.records, func(l Left) bool { return l.Path == c.path })
		if saved && (pid != 0 || l.PID != 0) {
			return fmt.Errorf("the original of %s is held since %s: an apply is in force; restore it first: tune-%s.sh restore",
				l.Path, l.Since.Format(time.RFC3339), l.Knob)
		} else if !saved {
			s.records = append(s.records, Left{Knob: knob, Path: c.path, Original: changes[i].now,
				Since: time.Now().UTC().Truncate(time.Second), PID: pid, Start: began(pid)})
		}
	}
	return s.save()
}

func among(changes []change) func(Left) bool {
	return func(l Left) bool {
		return slices.ContainsFunc(changes, func(c change) bool { return c.path == l.Path })
	}
}

// Ready is the line that a hold prints once all values are written and read back.
const Ready = "tune ready"

// hold applies the changes, waits, and restores what it applied.
func (k *knob) hold(m *machine, changes []change, out io.Writer) error {
	// Signals are caught until the process ends, so that a second one does not stop the restoring.
	unwanted := make(chan os.Signal, 8)
	signal.Notify(unwanted, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // the reader of its output may be gone
	if err := k.write(m, changes, os.Getpid()); err != nil {
		return err
	}
	fmt.Fprintln(out, Ready)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		unwanted <- syscall.SIGHUP
	}()
	<-unwanted
	return m.locked(changes[0].path, func(s *state) error {
		_, err := s.restore(m, among(changes))
		return err
	})
}
