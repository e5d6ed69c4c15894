package bench

import (
	"context"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/profile/why"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Place finds the servers that run already, or free ports for those that are started.
func (b *Bench) Place() (err error) {
	if b.Servers, err = Find(b.Servers); err != nil {
		return err
	}
	switch n := len(b.Servers) + 1; {
	case b.Running():
		b.ServerCPUs = Affinity(b.Servers)
	case b.Port == 0:
		b.Port, err = FreePorts(n)
	default:
		err = Listenable(b.Port, n)
	}
	return err
}

// Compare looks at the servers and compares them until the answer is known. There may be an outcome
// and an error.
func (b *Bench) Compare(ctx context.Context) (*compare.Outcome, error) {
	began := time.Now()
	b.Say("looking at %s", words.Count(len(b.Servers), "server"))
	notes, beside, err := b.look(ctx)
	if err != nil {
		return nil, err
	}
	if len(b.Servers) == 2 && b.Servers[0].Commit != "" && b.Servers[0].Commit == b.Servers[1].Commit {
		notes = append(notes, "base and head are the same files")
	}
	r, err := b.start(began, beside)
	if err != nil {
		return nil, err
	}
	err = r.Measure(ctx)
	if len(r.Blocks) == 0 {
		return nil, err
	}
	out := r.Assess()
	out.Notes = append(notes, out.Notes...)
	if err == nil {
		err = b.Curve(ctx, out)
	}
	if err == nil {
		err = b.explain(ctx, out)
	}
	return out, err
}

// explain adds which system calls requests make, and with Why of what kind of work the difference is.
func (b *Bench) explain(ctx context.Context, o *compare.Outcome) error {
	told := func(c compare.Comparison) bool { return c.Verdict != compare.Invalid }
	if !b.Costed() || !slices.ContainsFunc(o.Comparisons, told) {
		return nil
	}
	if err := why.Calls(ctx, b.Plan(), o, b.Show); err != nil || !b.Why {
		return err
	}
	return why.Search{Plan: b.Plan(), Seed: b.Seed, Tell: b.Show}.Add(ctx, o)
}
