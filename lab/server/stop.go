package main

import (
	"time"
)

// The times of a stop. The master's patience is longer than a farewell and a
// drain together, so that it does not cut a worker which is about to give up by
// itself, and a worker lingers longer than that, so that it is not the one to
// end the stop.
const (
	farewellTime   = 300 * time.Millisecond
	drainTime      = 1800 * time.Millisecond
	masterPatience = 2500 * time.Millisecond
	lingerTime     = 4 * time.Second
)

// drain answers what is in flight and closes every connection, within
// farewellTime and drainTime.
//
// First comes the farewell: every response says "Connection: close". A client
// under load has sent its next request before it can know of the stop, and a
// server that shuts down at once takes a connection with an unread request for
// an idle one and cuts it. The farewell is over when no connection is left, so
// a stop without load does not wait. Then the listener is closed, and with it
// whoever has asked for nothing all that time; a request half read is still
// waited for.
//
// Two things are lost all the same: connections the kernel had completed but
// nobody had accepted, which it resets, and pipelined requests behind the one
// that was answered with the farewell.
func (v *service) drain() {
	v.leaving.Store(true)
	over := time.Now().Add(farewellTime)
	for v.stack.open() > 0 && time.Now().Before(over) {
		time.Sleep(time.Millisecond)
	}
	v.stack.shutdown(drainTime)
}
