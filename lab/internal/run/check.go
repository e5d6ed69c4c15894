package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// parse reads what a client printed that cannot take turns.
func (l load) parse(stdout []byte) (*measure.Result, error) {
	switch l.generator {
	case setting.Sink:
		return generator.ParseSink(stdout)
	case setting.Readers:
		return generator.ParseReaders(stdout)
	}
	r, err := generator.ParseAutocannon(stdout)
	if err == nil {
		generator.Asked(r, l.rate) // autocannon does not print it
	}
	return r, err
}

// check compares some answers of a server with the route's, for clients that look at none.
func (l load) check() func(ctx context.Context, when string) *measure.Fault {
	return func(ctx context.Context, when string) *measure.Fault {
		if err := l.ask(ctx); err != nil {
			return &measure.Fault{Name: gate.WrongAnswer, Detail: fmt.Sprintf("%s the trial: %v", when, err)}
		}
		return nil
	}
}

// ask has the server asked on the client's side and on its cores.
func (l load) ask(ctx context.Context) error {
	target, err := json.Marshal(httpload.Target{URL: address(l.addr, l.route), Answers: l.serves.Answers})
	if err != nil {
		return err
	}
	argv := measure.OnCPUs(l.lab, l.split.Client, slices.Concat(l.lab, []string{measure.AskCall, "5s"})...)
	p, err := proc.Start(proc.Spec{Dir: l.dir, Argv: l.link.Client(argv), Stdin: bytes.NewReader(target), Stdout: io.Discard})
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		_ = p.Stop(p.Pid(), time.Second)
		return context.Cause(ctx)
	case <-p.Done():
	}
	if p.Err() != nil {
		return errors.New(p.LastLine())
	}
	return nil
}
