package tune

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// apply saves all originals, then writes. It returns how many values it wrote.
// Where it fails half-way, what it wrote is put back and what it saved is
// forgotten again; what an earlier apply saved stays.
func (s *session) apply(name string, k knob, changes []change, alone bool, errs io.Writer) (int, error) {
	if err := reach(s.m, k, changes); err != nil {
		return 0, err
	}
	before := make([]string, len(changes))
	for i, c := range changes {
		now, err := s.m.read(c.target)
		if err != nil {
			return 0, err
		}
		before[i] = now
		if h := s.held(c.target); alone && h >= 0 {
			r := s.all.Records[h]
			return 0, fmt.Errorf("the original of %s is held since %s (%s): an apply is in force; restore it first: tune-%s.sh restore",
				c.target.Path, r.Time.Format(time.RFC3339), strings.Join(r.Knobs, ", "), r.Knobs[0])
		}
	}
	s.forget(errs)
	saved := slices.Clone(s.all.Records)
	for i, c := range changes {
		s.remember(name, c, before[i])
	}
	if err := s.save(); err != nil {
		return 0, err
	}
	written := 0
	for i, c := range changes {
		if c.keep || same(s.m, c.target, before[i], c.want) {
			continue
		}
		if err := s.set(c.target, c.want); err != nil {
			return 0, s.back(err, changes[:i+1], before, saved)
		}
		written++
	}
	return written, nil
}

// remember notes a target's value, unless an earlier one is held.
func (s *session) remember(name string, c change, before string) {
	if h := s.held(c.target); h >= 0 {
		// A copy, since apply may want the old list back.
		r := s.all.Records[h]
		if !c.keep {
			r.Wanted = c.want
		}
		if !slices.Contains(r.Knobs, name) {
			r.Knobs = append(slices.Clone(r.Knobs), name)
		}
		s.all.Records = slices.Clone(s.all.Records)
		s.all.Records[h] = r
		return
	}
	want := c.want
	if c.keep {
		want = before
	}
	s.all.Records = append(s.all.Records, original{
		Knobs: []string{name}, Target: c.target, Original: before, Wanted: want,
		Boot: s.m.boot, Net: s.m.net, Time: time.Now().UTC().Truncate(time.Second),
	})
}

// set writes a value and reads it back.
func (s *session) set(t target, value string) error {
	if err := s.m.write(t, value); err != nil {
		return err
	}
	now, err := s.m.read(t)
	if err != nil {
		return err
	}
	if !same(s.m, t, now, value) {
		return fmt.Errorf("%s: %q was written, and the kernel made %q of it", t.Path, plain(value), plain(now))
	}
	return nil
}

// back puts back what an apply wrote before it failed.
func (s *session) back(why error, changes []change, before []string, saved []original) error {
	var left []string
	for i, c := range slices.Backward(changes) {
		now, err := s.m.read(c.target)
		if err == nil && now == before[i] {
			continue
		}
		if err := s.set(c.target, before[i]); err != nil {
			left = append(left, c.target.Path)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w; and could not be put back: %s; restore tries again", why, strings.Join(left, ", "))
	}
	s.all.Records = saved
	if err := s.save(); err != nil {
		return fmt.Errorf("%w; what was written is put back, but %w", why, err)
	}
	// The clause of an Unavailable is what the caller shows as a reason, and it
	// needs no such addition.
	if errors.As(why, new(Unavailable)) {
		return why
	}
	return fmt.Errorf("%w; what was written before it is put back", why)
}

// forget drops records whose targets are gone, and says so.
func (s *session) forget(errs io.Writer) {
	s.all.Records = slices.DeleteFunc(slices.Clone(s.all.Records), func(r original) bool {
		where, why := s.m.whereIs(r, s.all)
		if where == gone {
			fmt.Fprintf(errs, "forgotten: %s: %s\n", r.Target.Path, why)
		}
		return where == gone
	})
}

// restore writes originals back, the last saved first, and forgets those that
// read back right. It does what it can and returns what it could not.
func (s *session) restore(chosen func(original) bool, errs io.Writer) (int, error) {
	var problems []error
	var done []original
	restored := 0
	for _, r := range slices.Backward(s.all.Records) {
		if !chosen(r) {
			continue
		}
		// A queue that is missing may be back after the number of queues is.
		switch where, why := s.m.whereIs(r, s.all); where {
		case gone:
			fmt.Fprintf(errs, "forgotten: %s: %s\n", r.Target.Path, why)
		case elsewhere:
			problems = append(problems, fmt.Errorf("%s is kept: %s", r.Target.Path, why))
			continue
		default:
			now, err := s.m.read(r.Target)
			if err == nil && now != r.Original {
				err = s.set(r.Target, r.Original)
			}
			if err != nil {
				problems = append(problems, err)
				continue
			}
			restored++
		}
		done = append(done, r)
	}
	if len(done) > 0 {
		s.m.pen.before(s.m)
		s.all.Records = slices.DeleteFunc(slices.Clone(s.all.Records), func(r original) bool {
			return slices.ContainsFunc(done, func(d original) bool {
				return d.Target == r.Target && d.Boot == r.Boot && d.Net == r.Net
			})
		})
		if err := s.save(); err != nil {
			return restored, err
		}
	}
	return restored, oneLine(problems)
}

// oneLine joins errors on one line; an Unavailable among them stays one.
func oneLine(problems []error) error {
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return problems[0]
	}
	return fmt.Errorf("%w; and %d more like it", problems[0], len(problems)-1)
}

// restore of a call: of its knob, or all; of one interface or process where
// that was named.
func (c *Call) restore(m *machine, out, errs io.Writer) error {
	s, err := c.open(m)
	if err != nil {
		return err
	}
	defer s.close()
	n, err := s.restore(c.chosen(), errs)
	if err != nil {
		return err
	}
	name := c.knob
	if name == "" {
		name = "all knobs"
	}
	fmt.Fprintf(out, "%s: %s restored, all read back\n", name, count(n, "original"))
	if n == 0 {
		fmt.Fprint(out, c.rootsOwn())
	}
	return nil
}

// chosen tells which records a call is about.
func (c *Call) chosen() func(original) bool {
	given := map[string]string{}
	c.fs.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	return func(r original) bool {
		if c.knob != "" && !slices.Contains(r.Knobs, c.knob) {
			return false
		}
		if dev, ok := given["dev"]; ok && r.Target.Dev != "" && r.Target.Dev != dev {
			return false
		}
		pid, ok := given["pid"]
		return !ok || fmt.Sprint(r.Target.PID) == pid
	}
}
