package tune

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

// print prints every write that apply would make.
func (c *Call) print(m *machine, changes []change, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PATH\tNOW\tWANTED")
	writes := 0
	for _, ch := range changes {
		now, err := m.read(ch.target)
		if err != nil {
			return err
		}
		want := plain(ch.want)
		switch {
		case ch.keep:
			want = "(saved: it may go with a queue)"
		case same(m, ch.target, now, ch.want):
			want += " (already)"
		default:
			writes++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", ch.target.Path, plain(now), want)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "plan: %s; nothing was changed\n", count(writes, "write"))
	if err := reach(m, c.of, changes); err != nil {
		fmt.Fprintf(out, "apply would refuse: %v\n", err)
	}
	return nil
}

// verify compares the values with those that the arguments would set.
func verify(m *machine, changes []change, out io.Writer) error {
	differ := 0
	compared := 0
	for _, ch := range changes {
		if ch.keep {
			continue
		}
		now, err := m.read(ch.target)
		if err != nil {
			return err
		}
		compared++
		if !same(m, ch.target, now, ch.want) {
			fmt.Fprintf(out, "%s is %q, wanted %q\n", ch.target.Path, plain(now), plain(ch.want))
			differ++
		}
	}
	if differ > 0 {
		fmt.Fprintf(out, "verify: %d of %s differ\n", differ, count(compared, "value"))
		return ErrDiffers
	}
	fmt.Fprintf(out, "verify: %s as wanted\n", count(compared, "value"))
	return nil
}

// show prints a knob's values and the originals that are held of them; without
// a knob, all that is held.
func (c *Call) show(m *machine, out io.Writer) error {
	dir, err := stateDir(c.state)
	if err != nil {
		return err
	}
	// Nothing is written, so no lock: a journal is replaced whole.
	all, err := read(filepath.Join(dir, "originals.json"))
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if c.of == nil {
		if len(all.Records) == 0 {
			fmt.Fprintf(out, "no originals are held in %s\n%s", dir, c.rootsOwn())
			return nil
		}
		fmt.Fprintln(w, "PATH\tNOW\tORIGINAL\tKNOBS")
		for _, r := range all.Records {
			now, why := "", ""
			if where, reason := m.whereIs(r, all); where != present {
				why = reason
			} else if value, err := m.read(r.Target); err != nil {
				why = err.Error()
			} else {
				now = plain(value)
			}
			if why != "" {
				now = "(" + why + ")"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Target.Path, now, plain(r.Original), strings.Join(r.Knobs, ", "))
		}
		return w.Flush()
	}
	changes, err := c.of.plan(m, true)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "PATH\tNOW\tORIGINAL")
	for _, ch := range changes {
		now, err := m.read(ch.target)
		if err != nil {
			return err
		}
		kept := "(not held)"
		if h := m.held(all, ch.target); h >= 0 {
			kept = plain(all.Records[h].Original)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", ch.target.Path, plain(now), kept)
	}
	return w.Flush()
}
