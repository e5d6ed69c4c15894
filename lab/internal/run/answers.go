package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A comparison is a process of the lab's that compares the server's answers
// with the route's expected ones, before a trial and during it. It runs on the
// client's side of the wire and on the client's cores, so that it takes no CPU
// time from the server.
type comparison struct {
	proc   *leash.Proc
	in     io.WriteCloser
	once   sync.Once
	ready  chan struct{} // closed when the expected answers are ready
	before chan struct{} // closed when the answers before the trial have been compared

	mu   sync.Mutex
	head int
	all  []probe.Report // one report before the trial, then one for each answer compared

	sockets *socketWatch // the client's sockets, once the client runs
}

// compareEvery is the interval between compared answers. At a low fixed rate it
// is longer, so that comparing adds little load, but a few answers in the
// window are compared in any case.
func (l load) compareEvery() time.Duration {
	every := probe.Every
	if l.rate > 0 {
		const share = 500 // one compared answer to this many of the load's
		every = max(every, time.Duration(share/l.rate*float64(time.Second)))
	}
	return max(min(every, l.slot/5), time.Millisecond)
}

// compare starts a comparison, which prepares itself while the server starts.
// It returns nil where no route is loaded: the receiver of events checks each
// of them itself.
func (l load) compare() (*comparison, error) {
	if l.route == "" {
		return nil, nil
	}
	argv := append(slices.Clone(l.lab), "watch-answers", "--server", l.serves.Answers, "--url", "http://"+l.addr+l.route,
		"--every", l.compareEvery().String())
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &comparison{in: stdin, ready: make(chan struct{}), before: make(chan struct{})}
	c.proc, err = leash.Start(leash.Spec{Dir: l.dir, Argv: l.link.Client(l.beside(argv)), Env: []string{"GOMAXPROCS=1"},
		Stdin: in, Lines: c.read})
	if err != nil {
		stdin.Close()
		return nil, fmt.Errorf("the comparison of answers did not start: %w", err)
	}
	return c, nil
}

// beside pins a command of the lab's own to the client's cores.
func (l load) beside(argv []string) []string {
	if len(l.split.Client) == 0 {
		return argv
	}
	return append([]string{"taskset", "--cpu-list", cores.Format(l.split.Client)}, argv...)
}

// read parses a line of the comparison. A line that is no report is an error
// message and is kept as the last line.
func (c *comparison) read(line string) {
	var r probe.Report
	if json.Unmarshal([]byte(line), &r) != nil {
		return
	}
	if r.Ready {
		c.once.Do(func() { close(c.ready) })
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all = append(c.all, r); len(c.all) == 1 {
		c.head = r.Head
		close(c.before)
	}
}

// readyToCompare bounds the wait for the expected answers, and for the answers
// before the trial, where giving up on one may take some seconds.
const readyToCompare = 20 * time.Second

// begin compares the answers before the trial and closes the gate on a wrong
// one. An error means that the answers could not be compared.
func (c *comparison) begin(ctx context.Context, fail failer) error {
	if c == nil {
		return nil
	}
	if err := c.wait(ctx, c.ready); err != nil {
		return err
	}
	if _, err := io.WriteString(c.in, "begin\n"); err != nil {
		return fmt.Errorf("the answers cannot be compared: %w", err)
	}
	if err := c.wait(ctx, c.before); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.all[0].Fault; f != nil {
		fail(f.Gate, "%s", f.Detail)
	}
	return nil
}

func (c *comparison) wait(ctx context.Context, said chan struct{}) error {
	select {
	case <-said:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.proc.Done():
		select {
		case <-said: // both were ready
			return nil
		default:
			return fmt.Errorf("the answers cannot be compared: %s", strings.TrimPrefix(c.proc.LastLine(), "lab: "))
		}
	case <-time.After(readyToCompare):
		return errors.New("the answers cannot be compared: nothing was said of them for " + readyToCompare.String())
	}
}

// sees starts to watch the client's sockets.
func (c *comparison) sees(client int, l load) {
	if c != nil {
		c.sockets = watchSockets(client, l.connections, l.slot)
	}
}

// stop ends the comparison. It may be called twice.
func (c *comparison) stop() {
	if c == nil {
		return
	}
	c.in.Close()
	_ = c.proc.Stop(c.proc.Pid(), time.Second)
	if c.sockets != nil {
		c.sockets.end()
	}
}

// judge closes the gates on answers that were wrong during the trial, and on
// answers that could not be compared.
func (c *comparison) judge(l load, r *generator.Result, fail failer) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	compared, wrong := 0, map[string]int{}
	var first []probe.Report
	for _, one := range c.all[1:] {
		switch {
		case one.Fault != nil:
			if wrong[one.Fault.Gate]++; wrong[one.Fault.Gate] == 1 {
				first = append(first, one)
			}
		case !one.At.Before(r.Start) && !one.At.After(r.Finish):
			compared++
		}
	}
	for _, one := range first {
		fail(one.Fault.Gate, "%d of %d answers compared during the trial were wrong or did not come, the first at %s: %s",
			wrong[one.Fault.Gate], len(c.all)-1, clockOf(one.At), one.Fault.Detail)
	}
	if compared == 0 && len(first) == 0 {
		fail(gate.NoTelemetry, "no answer was compared in the measured window")
	}
	l.bytes(c.head, r, fail)
	c.sockets.judge(r, fail)
}

// bytes compares the load generator's byte count with the size of the route's
// answers and their heads.
func (l load) bytes(head int, r *generator.Result, fail failer) {
	if r.Counts.Non2xx > 0 {
		return // their size is not known, and their gate is closed
	}
	set, err := answer.Of(l.serves.Answers, l.route)
	if err != nil {
		fail(gate.WrongAnswer, "%v", err)
		return
	}
	t := answer.Traffic{Answers: r.Counts.OK, Bytes: r.Counts.Bytes, Head: head, Processes: l.workers}
	if l.generator == setting.Autocannon {
		// The generator counts the bytes it has read, which may include the beginning
		// of the next answer.
		t.Partial = l.connections
	}
	if err := set.Bytes(t); err != nil {
		fail(gate.WrongAnswer, "%v", err)
	}
}
