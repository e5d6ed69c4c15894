package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// How many answers are compared in full before a trial: connections, and
// answers on each. Over loopback this takes some milliseconds.
const (
	beforeConnections = 5
	beforeAnswers     = 4
)

// Every is the interval of comparisons during a trial. Each uses a new
// connection, so that all of the server's workers are asked. Ten a second cost
// a server some tenth of a percent of a core, and a wire of 500 Mbit/s less
// than that.
const Every = 100 * time.Millisecond

// How long an answer may take. Before the trial there is no load to wait for.
const (
	patienceBefore = 5 * time.Second
	patienceDuring = 10 * time.Second
)

// A Report is one line of a Watch's output.
type Report struct {
	// At is when the answer had arrived and been compared.
	At time.Time `json:"at"`
	// Ready says that the catalogue has been made, which takes some time.
	Ready bool `json:"ready,omitempty"`
	// Head is set in the report before the trial: see answer.Traffic.
	Head int `json:"head,omitempty"`
	// Fault is what was wrong; nil if the answers were right.
	Fault *Fault `json:"fault,omitempty"`
}

// A Watch is the command that compares a server's answers with the catalogue's.
// The lab starts it on the client's side of the wire, so that its answers come
// the same way as the client's.
type Watch struct {
	Server string        `required:""`
	URL    string        `required:""`
	Every  time.Duration `default:"100ms"`
}

// Run gets ready, waits for a line on in, compares some answers at once, and
// then one at a time until in or ctx ends.
func (w Watch) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	if w.Every <= 0 {
		return fmt.Errorf("watch-answers: --every %v is no time between two", w.Every)
	}
	c, err := newClient(w.Server, w.URL)
	if err != nil {
		return fmt.Errorf("watch-answers: %w", err)
	}
	say := json.NewEncoder(out)
	if err := say.Encode(Report{At: time.Now(), Ready: true}); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	if _, err := lines.ReadString('\n'); err != nil {
		return nil // no longer needed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		cancel()
	}()
	fault := c.before(ctx)
	if ctx.Err() != nil {
		return nil
	}
	c.timeout = patienceDuring
	if err := say.Encode(Report{At: time.Now(), Head: c.head, Fault: fault}); err != nil || fault != nil {
		return err
	}
	tick := time.NewTicker(w.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		_, fault := c.fetch(ctx, 1)
		if ctx.Err() != nil {
			return nil // the fault comes from being stopped
		}
		if err := say.Encode(Report{At: time.Now(), Fault: fault}); err != nil {
			return err
		}
	}
}

// before compares the answers before the trial.
func (c *client) before(ctx context.Context) *Fault {
	const all = beforeConnections * beforeAnswers
	done := 0
	for range beforeConnections {
		right, fault := c.fetch(ctx, beforeAnswers)
		done += right
		if fault != nil {
			return &Fault{fault.Gate, fmt.Sprintf("answer %d of %d before the trial: %s", done+1, all, fault.Detail)}
		}
	}
	return nil
}
