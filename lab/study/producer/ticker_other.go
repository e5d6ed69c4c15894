//go:build !linux

package main

import (
	"sync"
	"time"
)

// A ticker is Go's own on this system, which has nothing better; pace_lag_s says how late
// it is.
type ticker struct {
	*time.Ticker
	done chan struct{}
	once sync.Once
}

func newTicker(period time.Duration) (*ticker, error) {
	return &ticker{Ticker: time.NewTicker(period), done: make(chan struct{})}, nil
}

func (t *ticker) reset(period time.Duration) error {
	t.Reset(period)
	return nil
}

func (t *ticker) wait() (at time.Time, ok bool) {
	select {
	case at = <-t.C:
		return at, true
	case <-t.done:
		return at, false
	}
}

func (t *ticker) stop() {
	t.Stop()
	t.once.Do(func() { close(t.done) })
}
