package proc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"
)

// A Talk is a process that reads values of JSON on its input, and writes some on its output.
type Talk struct {
	*Proc
	in, out *os.File
	said    *json.Decoder
}

// StartTalk starts such a process. Input and output of the spec are the talk's own.
func StartTalk(s Spec) (*Talk, error) {
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, theirs, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer theirs.Close()
	t := &Talk{in: ours, out: out, said: json.NewDecoder(out)}
	s.Stdin, s.Stdout = in, theirs
	if t.Proc, err = Start(s); err != nil {
		ours.Close()
		out.Close()
	}
	return t, err
}

// Tell tells it a value. An error means that it has ended.
func (t *Talk) Tell(v any) error { return json.NewEncoder(t.in).Encode(v) }

// Close ends its input.
func (t *Talk) Close() { t.in.Close() }

// Hear reads what it says next. The error is the context's cause, os.ErrDeadlineExceeded, io.EOF if it
// has ended, or what is wrong with the JSON.
func (t *Talk) Hear(ctx context.Context, limit time.Duration, into any) error {
	_ = t.out.SetReadDeadline(time.Now().Add(limit)) // which every pipe has
	defer context.AfterFunc(ctx, func() { _ = t.out.SetReadDeadline(time.Now()) })()
	err := t.said.Decode(into)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.EOF
	}
	return err
}

// End ends it, whatever it does.
func (t *Talk) End() {
	t.in.Close()
	_ = t.Stop(t.Pid(), time.Second)
	t.out.Close()
}
