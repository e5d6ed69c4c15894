package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

// A Visit is all subjects of a plan that are up, and are loaded as the caller asks. It judges
// nothing.
type Visit struct{ b *block }

// Visit has all subjects up while do is called.
func (p *Plan) Visit(ctx context.Context, do func(ctx context.Context, v *Visit) error) error {
	return p.with(ctx, func(b *block) error { return do(ctx, &Visit{b}) })
}

// Turn loads a subject for so long, and gives what it answered and the CPU time that it used from the
// turn's begin to its end.
func (v *Visit) Turn(ctx context.Context, i int, length time.Duration) (r load.SlotReport, cpu time.Duration, err error) {
	if v.b.client == nil {
		if v.b.client, err = v.b.start(); err != nil {
			return r, 0, err
		}
		v.b.last = v.b.read()
	}
	t, err := v.b.turn(ctx, load.Slot{Target: i, Seconds: length.Seconds(), Counts: true})
	if errors.Is(err, errEnded) {
		s := v.b.Subjects[i]
		if err = s.Gone(); err == nil {
			err = errors.New(v.b.trials[i].Faults[0].Detail)
		}
		err = fmt.Errorf("%s: while it was loaded: %w", s.Name(), err)
	}
	return t.SlotReport, t.cpu(), err
}

// Rest ends the load, and gives its result; nil if there was none. The next turn begins another.
func (v *Visit) Rest(ctx context.Context) (s *load.Summary, err error) {
	if v.b.client != nil {
		s, err = v.b.client.close(ctx)
		v.b.client.End()
		v.b.client = nil
	}
	return s, err
}
