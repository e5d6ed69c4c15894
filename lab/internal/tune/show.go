package tune

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/line-rate/line-rate/lab/internal/words"
)

func table(out io.Writer, head string) *tabwriter.Writer {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	return w
}

// print lists every write that apply would make.
func (c *Call) print(m *machine, changes []change, out io.Writer) error {
	w := table(out, "PATH\tNOW\tWANTED")
	writes := 0
	for _, ch := range changes {
		want := plain(ch.want)
		if ch.due() {
			writes++
		} else {
			want += " (already)"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", ch.target.Path, plain(ch.now), want)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "plan: %s; nothing was changed\n", words.Count(writes, "write"))
	if err := c.knob.reach(m, changes); err != nil {
		fmt.Fprintf(out, "apply would refuse: %v\n", err)
	}
	return nil
}

// verify compares the present values with those that the arguments would set.
func verify(changes []change, out io.Writer) error {
	differ, compared := 0, words.Count(len(changes), "value")
	for _, ch := range changes {
		if ch.due() {
			fmt.Fprintf(out, "%s is %q, wanted %q\n", ch.target.Path, plain(ch.now), plain(ch.want))
			differ++
		}
	}
	if differ > 0 {
		fmt.Fprintf(out, "verify: %d of %s differ\n", differ, compared)
		return ErrDiffers
	}
	fmt.Fprintf(out, "verify: %s as wanted\n", compared)
	return nil
}

// show prints a knob's values and their held originals; without a knob,
// everything held.
func (c *Call) show(m *machine, out io.Writer) error {
	dir, err := stateDir(c.options.state)
	if err != nil {
		return err
	}
	// Reading needs no lock: the journal is always replaced as a whole.
	s := &session{m: m, dir: dir}
	if err := s.read(); err != nil {
		return err
	}
	if c.knob == nil {
		return c.showHeld(s, out)
	}
	c.options.look = true
	changes, err := c.knob.changes(m, &c.options)
	if err != nil {
		return err
	}
	w := table(out, "PATH\tNOW\tORIGINAL")
	for _, ch := range changes {
		kept := "(not held)"
		if h := s.held(ch.target); h >= 0 {
			kept = plain(s.Records[h].Original)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", ch.target.Path, plain(ch.now), kept)
	}
	return w.Flush()
}

func (c *Call) showHeld(s *session, out io.Writer) error {
	if len(s.Records) == 0 {
		_, err := fmt.Fprintf(out, "no originals are held in %s\n%s", s.dir, c.rootsOwn())
		return err
	}
	w := table(out, "PATH\tNOW\tORIGINAL\tKNOBS")
	for _, r := range s.Records {
		now := ""
		why, _ := s.missing(r)
		if why == "" {
			value, err := s.m.read(r.Target)
			if now = plain(value); err != nil {
				why = err.Error()
			}
		}
		if why != "" {
			now = "(" + why + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Target.Path, now, plain(r.Original), strings.Join(r.Knobs, ", "))
	}
	return w.Flush()
}
