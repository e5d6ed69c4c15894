// Package tune changes the kernel settings that the journal's entries change,
// and restores every one of them.
//
// Before anything is written, all present values are saved in a file that
// survives a crash. So after any failure, even kill -9 between two writes,
// "restore" finds the first originals. A change that does not fit the machine
// (a core that does not exist, an interface without queues) is refused before
// anything is saved. Each write is read back, and a value that the kernel
// changed is an error.
//
// The table of knobs says for each what it sets, which options it takes, how
// its values are read and set, and what it checks.
//
// # Originals
//
// They are in originals.json in the state directory (--state DIR, or else
// $LINE_RATE_STATE, or else /var/lib/line-rate for root and line-rate in
// $XDG_STATE_HOME or ~/.local/state for others). There is one record a target,
// with the knobs that changed it, the value before the first change, and the
// boot and the network namespace that it belongs to. The file is replaced as a
// whole; without records there is no file. A lock beside it lets one process at
// a time write. A directory that other users can write to is refused: they
// could make root write any value.
//
// The settings of a network namespace or an interface that no longer exists are
// gone with it: restore says so and forgets them. After a reboot,
// settings of the machine itself are still restored where they differ. Settings
// of a namespace that exists elsewhere are kept, and restore says where.
//
// # Hold
//
// "hold" is for programs: it applies, prints "tune ready", and restores what it
// applied when its standard input closes or it gets a signal. A second process
// does the work and watches the first, so the values are restored however the
// caller ends. A target whose original is held already is refused, since
// another apply is in force there. Several holds may run at once on different
// targets.
//
// # Limits
//
// A setting is changed in the network namespace of the calling process. For an
// interface in another namespace, start the process there with "nsenter --net".
// Root of the machine is needed; root of a user namespace can set none of them.
//
// A value that another program changes between apply and restore is overwritten. An
// interface that was moved to another network namespace counts as gone from its
// first one.
package tune

import (
	"cmp"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// Unavailable says why a setting cannot be changed on this machine or in this
// namespace. Claims that need it are then not applicable.
type Unavailable struct{ Why string }

func (u Unavailable) Error() string { return u.Why }

func unavailable(format string, args ...any) error { return Unavailable{fmt.Sprintf(format, args...)} }

// ErrDiffers is returned by verify where a value is not what was asked for.
var ErrDiffers = errors.New("some values differ from what these arguments set")

// actions are what can be done with a knob.
var actions = []string{"show", "plan", "apply", "verify", "restore", "hold", "reach", worker}

// A Call is one parsed command line.
type Call struct {
	knob    *knob // nil for all knobs
	action  string
	args    []string // as given, without knob and action
	options options
	fs      *flag.FlagSet
}

// Read parses "KNOB [ACTION] [ARGUMENT…]", or "restore" or "show" for all
// knobs. The error is flag.ErrHelp where help was asked for.
func Read(args []string) (c *Call, err error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("which knob? one of %s; or restore, or show", strings.Join(Knobs(), ", "))
	}
	c = &Call{}
	switch args[0] {
	case "restore", "show":
		c.action = args[0]
	case "-h", "-help", "--help", "help":
		return nil, flag.ErrHelp
	default:
		if c.knob, err = find(args[0]); err != nil {
			return nil, err
		}
	}
	c.fs = c.options.flags(c.knob)
	var rest []string
	for left := args[1:]; ; {
		if err := c.fs.Parse(left); errors.Is(err, flag.ErrHelp) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%w; see -h", err)
		}
		c.args = append(c.args, left[:len(left)-c.fs.NArg()]...)
		if c.fs.NArg() == 0 {
			break
		}
		word := c.fs.Arg(0)
		left = c.fs.Args()[1:]
		if c.action == "" && slices.Contains(actions, word) {
			c.action = word
			continue
		}
		rest, c.args = append(rest, word), append(c.args, word)
	}
	c.action = cmp.Or(c.action, "plan")
	switch {
	case len(rest) > 0 && c.knob != nil:
		return nil, fmt.Errorf("%q is neither an option nor one of %s", rest[0], strings.Join(actions[:6], ", "))
	case len(rest) > 0:
		return nil, fmt.Errorf("%s of all knobs takes no %q", c.action, rest[0])
	}
	return c, nil
}

// Run does what the call says. Results are written to out, remarks to errs. The
// error is ErrDiffers where verify found differences, which are listed in out.
func (c *Call) Run(out, errs io.Writer) error {
	var err error
	if c.action == "hold" {
		// The front needs no view of /sys: its worker makes one.
		err = c.front(out, errs)
	} else {
		err = inside(func() error { return c.run(out, errs) })
	}
	if err != nil && c.knob != nil && !errors.Is(err, ErrDiffers) {
		return fmt.Errorf("tune %s: %w", c.knob.name, err)
	}
	return err
}

func (c *Call) run(out, errs io.Writer) error {
	m, err := here()
	if err != nil {
		return err
	}
	switch c.action {
	case "restore":
		return c.restore(m, out, errs)
	case "show":
		return c.show(m, out)
	}
	changes, err := c.knob.changes(m, &c.options)
	if err != nil {
		return err
	}
	switch c.action {
	case "plan":
		return c.print(m, changes, out)
	case "verify":
		return verify(changes, out)
	case "reach":
		return c.knob.reach(m, changes)
	case "apply":
		n, s, err := c.apply(m, changes, errs)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %s written, all read back; originals are in %s\n", c.knob.name, words.Count(n, "value"),
			s.file())
		return nil
	}
	return c.work(m, changes, out, errs)
}

// Reach tells beforehand whether a setting can be changed here: nil, or
// Unavailable with a clause that fits into a sentence ("needs root: …", "eth0
// has one transmit queue", …). Arguments that are wrong on every machine give
// another error. Without arguments Reach only checks what does not depend on
// them: whether this process may change such a setting at all.
func Reach(name string, args []string) error {
	c, err := Read(append([]string{name, "reach"}, args...))
	if err != nil {
		return err
	}
	return inside(func() error {
		if len(args) > 0 || c.knob.where == "" {
			return c.run(io.Discard, io.Discard)
		}
		m, err := here()
		if err == nil && m.tree == "" && !realRoot(c.knob.rights) {
			err = needsRoot(c.knob.where)
		}
		return err
	})
}

// Runs reports whether the service that a knob stops runs on this machine.
func Runs(name string) bool {
	k, err := find(name)
	return err == nil && k.runs(&machine{tree: os.Getenv(treeVariable)})
}

func (k *knob) runs(m *machine) bool {
	return slices.ContainsFunc(k.services, func(n string) bool { return m.process(n) != 0 })
}

// inside runs f on a thread that ends with it, because f may give the thread
// another view of /sys.
func inside(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		done <- f()
	}()
	return <-done
}
