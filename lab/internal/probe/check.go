package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// How many answers are compared in full: connections, and answers on each. Over
// loopback this takes some milliseconds.
const (
	checkedConnections = 5
	checkedAnswers     = 4
)

// patience is how long an answer may take. There is no load to wait for.
const patience = 5 * time.Second

// A Report is what a Check prints.
type Report struct {
	// Head is the length of the answers' heads: see answer.Traffic.
	Head int `json:"head,omitempty"`
	// Fault is what was wrong; nil if the answers were right.
	Fault *Fault `json:"fault,omitempty"`
}

// A Check is the command that compares some of a server's answers in full with the
// catalogue's. The lab starts it on the client's side of the wire, so that its
// answers come the same way as the client's.
type Check struct {
	Server string `required:""`
	URL    string `required:""`
}

// Run compares the answers, and prints its report as a line of JSON.
func (k Check) Run(ctx context.Context, out io.Writer) error {
	c, err := newClient(k.Server, k.URL)
	if err != nil {
		return err
	}
	fault := c.check(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx) // the fault comes from being stopped
	}
	return json.NewEncoder(out).Encode(Report{c.head, fault})
}

func (c *client) check(ctx context.Context) *Fault {
	done := 0
	for range checkedConnections {
		right, fault := c.fetch(ctx, checkedAnswers)
		done += right
		if fault != nil {
			return &Fault{fault.Gate,
				fmt.Sprintf("answer %d of %d: %s", done+1, checkedConnections*checkedAnswers, fault.Detail)}
		}
	}
	return nil
}
