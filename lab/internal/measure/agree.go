package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
)

// How often the lab sends each request to a server, how long a listening server may take to answer
// as expected, and how often it asks before it refuses servers. One of many answers may be wrong,
// and the load tells how many are.
const (
	askedTimes = 4
	askWithin  = 20 * time.Second
	mostTries  = 3
	second     = 1100 * time.Millisecond // longer than what bodies keep that change once a second
)

// An Agreement says how the answers of servers compare with those of the first.
type Agreement struct {
	Differ []string            // how one's are not the same, in words
	Own    map[string][]string // whose bodies have something of their own, by what that is: see probe.Alike
}

// alike refuses servers that differ, unless the plan allows it or all right answers are known: then the client compares
// with these.
func (b *block) alike(ctx context.Context) error {
	known := true
	for i, s := range b.Subjects {
		known = known && b.Target(i, s.Addr()).Answers != ""
	}
	switch {
	case known:
		return nil
	case b.Link.PID() > 0:
		return errors.New("on a wire only servers whose answers the lab knows are measured; others over loopback")
	}
	_, err := b.agree(ctx, len(b.Subjects))
	return err
}

// Agree asks the first n subjects for each request, side by side. It refuses those that differ, unless the plan allows it.
// Bodies that change with the time are known by a second call, a second later.
func (v *Visit) Agree(ctx context.Context, n int) (Agreement, error) { return v.b.agree(ctx, n) }

func (b *block) agree(ctx context.Context, n int) (a Agreement, err error) {
	for tries := 1; ; tries++ {
		if err = b.ask(ctx, n); err == nil {
			a = b.compared(n)
		}
		switch {
		case ctx.Err() != nil:
			return a, context.Cause(ctx)
		case err == nil && (a.Differ == nil || b.Unlike):
			return a, nil
		case err == nil && tries == mostTries:
			return a, errors.New(a.Differ[0])
		case err != nil && (tries == mostTries || !probe.Answered(err)):
			return a, err
		}
	}
}

// ask asks the first n subjects side by side, and keeps the last answer to each request from a second before.
func (b *block) ask(ctx context.Context, n int) error {
	if b.given != nil {
		time.Sleep(time.Until(b.asked.Add(second)))
	}
	given := make([][]probe.Given, n)
	if err := b.each(ctx, func(ctx context.Context, i int) (err error) {
		if i < n {
			given[i], err = b.fetch(ctx, i)
		}
		return err
	}); err != nil {
		return err
	}
	for i, before := range b.given {
		for at, g := range before {
			if at+1 == len(before) || before[at+1].Of != g.Of {
				given[i] = slices.Insert(given[i], 0, g)
			}
		}
	}
	b.given, b.asked = given, time.Now()
	return nil
}

// fetch asks a subject, and says what it does in place of answering.
func (b *block) fetch(ctx context.Context, i int) ([]probe.Given, error) {
	s := b.Subjects[i]
	t := b.Target(i, s.Addr())
	given, err := probe.Ask(ctx, t, cmp.Or(b.Ready, askWithin), askedTimes)
	if err == nil || ctx.Err() != nil {
		return given, err
	}
	for range 20 { // its end may show a moment after its result
		if gone := s.Gone(); gone != nil {
			return nil, fmt.Errorf("%s: while it was asked: %w", s.Name(), gone)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if other := probe.Instead(ctx, t, err); other != "" && !probe.Answered(err) {
		return nil, fmt.Errorf("%s: %s", s.Name(), other)
	}
	return nil, fmt.Errorf("%s: %w", s.Name(), err)
}

// compared says how the answers of the first n subjects compare.
func (b *block) compared(n int) (a Agreement) {
	a.Own = map[string][]string{}
	first := b.Subjects[0]
	for i, s := range b.Subjects[:n] {
		own, d := probe.Alike(b.given[0], b.given[i], first.Addr(), s.Addr())
		if d != nil {
			t := b.Target(i, s.Addr())
			requests, _ := t.Asked() // they have been
			a.Differ = append(a.Differ, fmt.Sprintf("the answers to %s are not the same, so their cost would say little: %s answers "+
				"with %s %s, %s with %s", requests[d.Of].Label(), s.Name(), d.Field, d.Ours, first.Name(), d.Theirs))
			continue
		}
		for _, name := range []string{first.Name(), s.Name()} {
			if own != "" && !slices.Contains(a.Own[own], name) {
				a.Own[own] = append(a.Own[own], name)
			}
		}
	}
	return a
}
