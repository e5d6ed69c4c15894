//go:build !linux

package load

import (
	"context"
	"errors"
	"io"
)

var errLinux = errors.New("it needs Linux: it waits by epoll and reads the CPU clocks of the servers")

// Run needs epoll, and clocks of other processes.
func Run(context.Context, *Plan, Options) (*Report, error) { return nil, errLinux }

// Serve needs what Run needs.
func Serve(context.Context, io.Reader, io.Writer, Options) error { return errLinux }
