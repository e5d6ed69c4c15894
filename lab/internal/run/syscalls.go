package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Calls is what one condition's requests cost the server in system calls.
type Calls struct {
	Levels   setting.Levels
	Tracer   string
	Requests float64
	Counts   probe.Counts
}

// Syscalls loads each condition once with a tracer on the server and counts.
// It is no run: a traced server is a slower one, so nothing of it is kept that
// a claim could be decided by.
func Syscalls(ctx context.Context, p Plan, each func(Calls)) error {
	x := p.Experiment
	if why := p.unreachable(); why != "" {
		return errors.New(why)
	}
	link, err := p.up()
	if err != nil {
		return err
	}
	defer link.Down()
	if p.found, err = p.find(); err != nil {
		return err
	}
	for _, levels := range x.Conditions() {
		l := p.load(link, x.Fixed().With(levels))
		c, err := l.traced(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", levels.Key(), err)
		}
		c.Levels = levels
		each(c)
	}
	return nil
}

func (l load) traced(ctx context.Context) (c Calls, err error) {
	back, err := l.turn(ctx)
	if err != nil {
		return c, err
	}
	defer func() { err = also(err, back()) }()
	server, err := l.startServer(ctx)
	if err != nil {
		return c, err
	}
	defer server.stop()
	tracer, err := probe.Start(server.processes())
	if err != nil {
		return c, err
	}
	stopped := false
	defer func() {
		if !stopped {
			_, _ = tracer.Stop()
		}
	}()
	// Without a warm-up, every request that the server sees is one of the trial's.
	argv := append([]string{}, l.client...)
	for i, a := range argv {
		if a == "--warmup" {
			argv[i+1] = "0"
		}
	}
	var out bytes.Buffer
	client, err := leash.Start(leash.Spec{Dir: l.dir, Argv: l.link.Client(argv), Stdout: &out})
	if err != nil {
		return c, fmt.Errorf("the client did not start: %w", err)
	}
	defer client.Stop(client.Pid(), time.Second)
	select {
	case <-ctx.Done():
		return c, context.Cause(ctx)
	case <-server.proc.Done():
		return c, fmt.Errorf("the server exited: %s", server.lastWords())
	case <-time.After(l.limit):
		return c, errors.New("the client did not end")
	case <-client.Done():
	}
	stopped = true
	if c.Counts, err = tracer.Stop(); err != nil {
		return c, err
	}
	if err := client.Err(); err != nil {
		return c, fmt.Errorf("the client failed (%w): %s", err, client.LastLine())
	}
	r, err := l.parse(out.Bytes())
	if err != nil {
		return c, err
	}
	if faults := l.faults(r); len(faults) > 0 {
		var why []string
		for _, f := range faults {
			why = append(why, f.Detail)
		}
		return c, errors.New(strings.Join(why, "; "))
	}
	c.Tracer, c.Requests = tracer.Tracer, r.Metrics["requests"]
	return c, nil
}
