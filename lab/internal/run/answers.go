package run

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/wire"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// What the lab's own servers have to answer is known to programs that make runs.
func init() {
	probe.Right = right
	measure.Enter = wire.Called
}

// right says what is wrong with an answer of one of the lab's servers; nil if nothing is.
func right(g probe.Given, server, route string) error {
	set, err := answer.Of(server, route)
	switch {
	case err != nil:
		return err
	case g.Type != catalog.ContentType:
		return fmt.Errorf("Content-Type %q, the route's is %q", g.Type, catalog.ContentType)
	case g.Encoding != set.Encoding:
		return fmt.Errorf("Content-Encoding %q, the route's is %q", g.Encoding, set.Encoding)
	}
	return set.Fault(g.Body)
}
