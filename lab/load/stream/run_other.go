//go:build !linux

package stream

import (
	"context"
	"errors"
)

// Run needs epoll.
func Run(context.Context, *Plan) (*Report, error) {
	return nil, errors.New("it needs Linux: it waits by epoll")
}
