//go:build !linux

package main

import (
	"context"
	"errors"
	"io"

	"github.com/line-rate/line-rate/lab/internal/rotation"
)

var errNotReached = errors.New("nothing listens there")

// carryOut needs epoll, and clocks of other processes.
func carryOut(context.Context, *rotation.Plan, io.Writer, func() error) (*rotation.Summary, error) {
	return nil, errors.New("it needs Linux: it waits by epoll and reads the CPU clocks of the servers")
}
