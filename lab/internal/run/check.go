package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// parse reads what a client printed that cannot take turns.
func (l load) parse(stdout []byte) (*generator.Result, error) {
	switch l.generator {
	case setting.Sink:
		return generator.ParseSink(stdout)
	case setting.Readers:
		return generator.ParseReaders(stdout)
	}
	r, err := generator.ParseAutocannon(stdout)
	if err == nil {
		r.Asked(l.rate) // autocannon does not print it
	}
	return r, err
}

// check compares some answers of a server with the route's, and the bytes that the client counted
// with what its answers come to.
func (l load) check() func(ctx context.Context, when string, r *generator.Result) *measure.Fault {
	head := 0
	return func(ctx context.Context, when string, r *generator.Result) *measure.Fault {
		seen, err := l.compare(ctx)
		switch {
		case err != nil:
			return &measure.Fault{Name: gate.NoTelemetry, Detail: fmt.Sprintf("the answers cannot be compared: %v", err)}
		case seen.Fault != nil:
			return &measure.Fault{Name: seen.Fault.Gate, Detail: fmt.Sprintf("%s the trial: %s", when, seen.Fault.Detail)}
		case r == nil:
			head = seen.Head
			return nil
		case r.Counts.Non2xx > 0:
			return nil // their size is not known, and their fault is told
		}
		set, err := answer.Of(l.serves.Answers, l.route)
		if err == nil {
			t := answer.Traffic{Answers: r.Counts.OK, Bytes: r.Counts.Bytes, Head: head, Processes: l.workers}
			if l.generator == setting.Autocannon {
				// It counts the bytes that it has read, which may include the beginning of the next answer.
				t.Partial = l.connections
			}
			err = set.Bytes(t)
		}
		if err != nil {
			return &measure.Fault{Name: gate.WrongAnswer, Detail: err.Error()}
		}
		return nil
	}
}

// compare has the lab compare some answers in full, on the client's side and on its cores.
func (l load) compare(ctx context.Context) (r probe.Report, err error) {
	argv := measure.OnCPUs(l.lab, l.split.Client, slices.Concat(l.lab,
		[]string{"check-answers", "--server", l.serves.Answers, "--url", address(l.addr, l.route)})...)
	var out bytes.Buffer
	p, err := proc.Start(proc.Spec{Dir: l.dir, Argv: l.link.Client(argv), Stdout: &out})
	if err != nil {
		return r, err
	}
	select {
	case <-ctx.Done():
		_ = p.Stop(p.Pid(), time.Second)
		return r, context.Cause(ctx)
	case <-p.Done():
	}
	if p.Err() != nil {
		return r, errors.New(p.LastLine())
	}
	return r, json.Unmarshal(out.Bytes(), &r)
}
