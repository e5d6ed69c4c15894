package run

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// How often the lab asks a server beside a client that checks no answers, and how long an answer
// may take.
const (
	askedTimes = 4
	askWithin  = 5 * time.Second
)

// check asks the condition's server, and says what is wrong with its answers; nil if nothing is.
func (l load) check(ctx context.Context) error {
	t, route := l.target(), l.levels[setting.Route].String()
	set, err := answer.Of(t.Answers, route)
	if err != nil {
		return err
	}
	given, err := probe.Ask(ctx, t, askWithin, askedTimes)
	for _, g := range given {
		if err := right(g, set); err != nil {
			return fmt.Errorf("its answer to GET %s is not as expected: %w", route, err)
		}
	}
	return err
}

func right(g probe.Given, set *answer.Set) error {
	switch {
	case g.Type != catalog.ContentType:
		return fmt.Errorf("Content-Type %q, the route's is %q", g.Type, catalog.ContentType)
	case g.Encoding != set.Encoding:
		return fmt.Errorf("Content-Encoding %q, the route's is %q", g.Encoding, set.Encoding)
	}
	return set.Fault(g.Body)
}
