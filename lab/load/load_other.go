//go:build !linux

package main

import (
	"context"
	"errors"
	"io"

	"github.com/line-rate/line-rate/lab/internal/generator"
)

var errNotReached = errors.New("nothing listens there")

// carryOut needs epoll, and clocks of other processes.
func carryOut(context.Context, *generator.Plan, io.Writer, func() error) (*generator.Summary, error) {
	return nil, errors.New("it needs Linux: it waits by epoll and reads the CPU clocks of the servers")
}
