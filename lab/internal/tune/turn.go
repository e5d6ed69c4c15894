package tune

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// apply saves the originals of all changes and then writes. If it fails
// half-way, it restores what it wrote and forgets what it saved; records of an
// earlier apply stay. A hold's worker refuses a target whose original is held.
func (c *Call) apply(m *machine, changes []change, errs io.Writer) (written int, s *session, err error) {
	// Checked before a state directory is made, which may not be allowed.
	if err := c.knob.reach(m, changes); err != nil {
		return 0, nil, err
	}
	if s, err = open(m, c.options.state); err != nil {
		return 0, nil, err
	}
	defer s.close()
	if err := m.look(changes); err != nil { // read again under the lock: nobody else writes now
		return 0, nil, err
	}
	for _, ch := range changes {
		if h := s.held(ch.target); c.action == worker && h >= 0 {
			r := s.Records[h]
			return 0, nil, fmt.Errorf("the original of %s is held since %s (%s): an apply is in force; restore it first: "+
				"tune-%s.sh restore",
				r.Target.Path, r.Time.Format(time.RFC3339), strings.Join(r.Knobs, ", "), r.Knobs[0])
		}
	}
	s.forget(errs)
	saved := slices.Clone(s.Records)
	var by *keeper
	if c.action == worker {
		by = itself()
	}
	for _, ch := range changes {
		s.remember(c.knob.name, ch, by)
	}
	if err := s.save(); err != nil {
		return 0, nil, err
	}
	for i, ch := range changes {
		if !ch.due() {
			continue
		}
		if err := m.set(ch.target, ch.want); err != nil {
			return 0, nil, s.back(err, changes[:i+1], saved)
		}
		written++
	}
	return written, s, nil
}

// remember saves a target's value, unless an earlier one is held.
func (s *session) remember(name string, c change, by *keeper) {
	h := s.held(c.target)
	if h < 0 {
		h = len(s.Records)
		s.Records = append(s.Records, original{
			Target: c.target, Original: c.now, Wanted: c.want,
			Boot: s.m.boot, Net: s.m.net, Time: time.Now().UTC().Truncate(time.Second),
		})
	}
	r := &s.Records[h]
	r.Holder, r.Wanted = by, c.want
	if !slices.Contains(r.Knobs, name) {
		r.Knobs = append(slices.Clip(r.Knobs), name)
	}
}

// back restores what an apply wrote before it failed.
func (s *session) back(why error, changes []change, saved []original) error {
	var left []string
	for _, c := range slices.Backward(changes) {
		if s.m.bring(c.target, c.now) != nil {
			left = append(left, c.target.Path)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w; and could not be put back: %s; restore tries again", why, strings.Join(left, ", "))
	}
	s.Records = saved
	if err := s.save(); err != nil {
		return fmt.Errorf("%w; what was written is put back, but %w", why, err)
	}
	// The text of an Unavailable is shown as a reason and must stay as it is.
	if errors.As(why, new(Unavailable)) {
		return why
	}
	return fmt.Errorf("%w; what was written before it is put back", why)
}

// forget drops records whose targets are gone, and says so.
func (s *session) forget(errs io.Writer) {
	s.Records = slices.DeleteFunc(slices.Clone(s.Records), func(r original) bool {
		why, gone := s.missing(r)
		if gone {
			fmt.Fprintf(errs, "forgotten: %s: %s\n", r.Target.Path, why)
		}
		return gone
	})
}

// restore writes originals back, the last saved first, and forgets those that
// read back right. It goes on after errors and returns all of them.
func (s *session) restore(chosen func(original) bool, errs io.Writer) (restored int, err error) {
	var problems []error
	var left []original
	for _, r := range slices.Backward(s.Records) {
		if !chosen(r) {
			left = append(left, r)
			continue
		}
		why, gone := s.missing(r)
		if gone {
			fmt.Fprintf(errs, "forgotten: %s: %s\n", r.Target.Path, why)
			continue
		}
		err := fmt.Errorf("%s is kept: %s", r.Target.Path, why)
		if why == "" {
			err = s.m.bring(r.Target, r.Original)
		}
		if err != nil {
			problems, left = append(problems, err), append(left, r)
			continue
		}
		restored++
	}
	if len(left) < len(s.Records) {
		slices.Reverse(left)
		s.Records = left
		if err := errors.Join(beforeWrite(target{}, ""), s.save()); err != nil {
			return restored, err
		}
	}
	if len(problems) > 1 {
		return restored, fmt.Errorf("%w; and %d more like it", problems[0], len(problems)-1)
	}
	return restored, errors.Join(problems...)
}

// restore restores the originals of the call's knob, or of all; of one
// interface or process where one is named.
func (c *Call) restore(m *machine, out, errs io.Writer) error {
	s, err := open(m, c.options.state)
	if err != nil {
		return err
	}
	defer s.close()
	given := map[string]bool{}
	c.fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	n, err := s.restore(func(r original) bool {
		return (c.knob == nil || slices.Contains(r.Knobs, c.knob.name)) &&
			(!given["dev"] || r.Target.Dev == "" || r.Target.Dev == c.options.dev)
	}, errs)
	if err != nil {
		return err
	}
	name := "all knobs"
	if c.knob != nil {
		name = c.knob.name
	}
	fmt.Fprintf(out, "%s: %s restored, all read back\n", name, words.Count(n, "original"))
	if n == 0 {
		fmt.Fprint(out, c.rootsOwn())
	}
	return nil
}
