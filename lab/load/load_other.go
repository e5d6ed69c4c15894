//go:build !linux

package load

import (
	"context"
	"errors"
)

// Run needs epoll, and clocks of other processes.
func Run(context.Context, *Plan, Options) (*Report, error) {
	return nil, errors.New("it needs Linux: it waits by epoll and reads the CPU clocks of the servers")
}
