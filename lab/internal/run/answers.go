package run

import (
	"context"
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// check compares some of the server's answers with the route's expected ones and
// closes the gate on a wrong one. It gives the length of the answers' heads; 0 where
// no route is loaded: the receiver of events checks each of them itself. An error
// means that the answers could not be compared.
func (l load) check(ctx context.Context, when string, fail failer) (head int, err error) {
	if l.route == "" {
		return 0, nil
	}
	var r probe.Report
	if err := l.called(ctx, &r, nil, "check-answers", "--server", l.serves.Answers, "--url",
		address(l.addr, l.route)); err != nil {
		return 0, fmt.Errorf("the answers cannot be compared: %w", err)
	}
	if r.Fault != nil {
		fail(r.Fault.Gate, "%s the trial: %s", when, r.Fault.Detail)
	}
	return r.Head, nil
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
