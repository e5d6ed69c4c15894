package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Ready returns, before anything is measured, what would make every trial fail: Unable where the design
// cannot be carried out on this machine, or a program that cannot be started.
func (p Plan) Ready() error {
	if why := p.unreachable(); why != "" {
		return Unable{why}
	}
	p, _ = p.without()
	// Each server of a group, and the control's, has a port of its own.
	for _, g := range p.Experiment.Groups() {
		if last := p.Port + len(g); last > 65535 {
			return fmt.Errorf("--port %d: up to %d ports are needed from there on, and the last is 65535", p.Port, len(g)+1)
		}
	}
	var seen []string
	for _, levels := range p.Experiment.Conditions() {
		l := p.load(measure.Loopback{}, p.Experiment.Fixed().With(levels), p.Port)
		for _, side := range []struct {
			what, name string
			argv       []string
		}{{"server", l.serves.Name, l.server}, {"client", l.asked.Generator, l.client}} {
			if slices.Contains(seen, side.name) || side.name == setting.HTTPLoad { // no script starts the lab's own
				continue
			}
			seen = append(seen, side.name)
			if err := starts(l.dir, side.argv); err != nil {
				return fmt.Errorf("the %s cannot be started: %w", side.what, err)
			}
		}
	}
	_, err := p.find()
	return err
}

// fewFiles says why a process here may not open as many files as server or client need, which raise their
// own limit to the hard one; empty if it may.
func fewFiles(needs int64) string {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Max >= uint64(needs) {
		return ""
	}
	return fmt.Sprintf("server and client need %d open files each, and the hard limit is %d; raise it: sudo prlimit "+
		"--pid $$ --nofile=%d:%d", needs, l.Max, 2*needs, 2*needs)
}

// startsWithin bounds the wait for a program that only prints its version.
const startsWithin = 20 * time.Second

// starts has a script check that its program can be started.
func starts(dir string, argv []string) error {
	ctx, cancel := context.WithTimeoutCause(context.Background(), startsWithin,
		fmt.Errorf("%s --check did not end within %v", argv[0], startsWithin))
	defer cancel()
	err := proc.Run(ctx, proc.Spec{Dir: dir, Argv: append([]string{argv[0], "--check"}, argv[1:]...)})
	if failure, ok := errors.AsType[proc.Failure](err); ok && failure.Line == "" {
		return fmt.Errorf("%s --check: %w", argv[0], err)
	}
	return err
}
