package bench

import (
	"context"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/measure"
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

// Build builds two revisions, whose servers then start in their worktrees. The caller closes these.
func (b *Bench) Build(ctx context.Context, base, head, command string) (*Trees, error) {
	trees, err := Checkout(ctx, b.Dir, base, head)
	if err != nil {
		return nil, err
	}
	if command != "" {
		err = trees.Build(ctx, append(slices.Clone(b.Self), measure.HoldCall), command, b.Say)
	}
	if err != nil {
		trees.Close()
		return nil, err
	}
	for i, tree := range []*Tree{trees.Base, trees.Head} {
		b.Servers[i].Dir, b.Servers[i].Commit = tree.Dir, tree.Commit
	}
	return trees, nil
}

// Compare looks at the servers and compares them until the answer is known. There may be an outcome
// and an error.
func (b *Bench) Compare(ctx context.Context) (*compare.Outcome, error) {
	began := time.Now()
	b.Say("looking at %s", words.Count(len(b.Servers), "server"))
	takes, notes, err := b.Look(ctx)
	if err != nil {
		return nil, err
	}
	if len(b.Servers) == 2 && b.Servers[0].Commit != "" && b.Servers[0].Commit == b.Servers[1].Commit {
		notes = append(notes, "base and head are the same files")
	}
	r, err := b.Start(began, takes)
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
	return out, err
}
