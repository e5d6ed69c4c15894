package answer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// How many answers are compared in full before a trial: so many connections, so
// many answers on each. Over loopback that takes some milliseconds.
const (
	beforeConnections = 5
	beforeAnswers     = 4
)

// Every is how often one is compared during a trial, each on a connection of its
// own, so that no worker of the server's goes unasked. Ten a second cost a
// server some tenth of a percent of a core, and a wire of 500 Mbit/s less than
// that.
const Every = 100 * time.Millisecond

// How long an answer may take: before the trial there is no load that it would
// have to wait for.
const (
	patienceBefore = 5 * time.Second
	patienceDuring = 10 * time.Second
)

// A Report is one line of what compares.
type Report struct {
	// At is when the answer had come and was compared.
	At time.Time `json:"at"`
	// Ready says that the catalogue is made, which takes some time.
	Ready bool `json:"ready,omitempty"`
	// Head comes with those before the trial: see Traffic.
	Head int `json:"head,omitempty"`
	// Fault is what was wrong; nil of answers that were right.
	Fault *Fault `json:"fault,omitempty"`
}

// A Watch is the command that compares a server's answers with those of its
// catalogue. The lab starts it on the client's side of the wire, where it meets
// what the client meets.
type Watch struct {
	Server string        `required:""`
	URL    string        `required:""`
	Every  time.Duration `default:"100ms"`
}

// Run makes itself ready, waits for a line on in, compares some answers at once
// and then one at a time until in or ctx ends.
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
		return nil // it is not needed any more
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
			return nil // what broke off was this end
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
