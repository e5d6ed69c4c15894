//go:build !linux

package calls

import "errors"

// A Tracer counts on Linux only.
type Tracer struct{}

// Trace is refused.
func Trace(func() []int, bool) (*Tracer, error) {
	return nil, errors.New("system calls are counted on Linux only")
}

// Counts has nothing.
func (*Tracer) Counts() (Counts, error) { return nil, nil }

// Stop does nothing.
func (*Tracer) Stop() {}
