package main

import (
	"time"
)

// The times of a stop. The master's patience is longer than a farewell and a drain
// together, so that it does not cut off a worker that is about to finish. A worker
// lingers for longer than the master's patience, so that the master ends the stop.
const (
	farewellTime   = 300 * time.Millisecond
	drainTime      = 1800 * time.Millisecond
	masterPatience = 2500 * time.Millisecond
	lingerTime     = 4 * time.Second
)

// drain answers the requests in flight and closes every connection, within farewellTime
// and drainTime.
//
// First comes the farewell: every response says "Connection: close". A client under load
// has sent its next request before it can know of the stop, and a server that shuts down
// at once takes a connection with an unread request for an idle one and cuts it. The
// farewell ends early when no connection is left, so a stop without load does not wait.
// Then the listener is closed, and with it the connections that have sent nothing in all
// that time; requests that are read in part are still waited for.
//
// Two things are lost anyway: connections that the kernel had completed but the server
// had not accepted, which the kernel resets, and pipelined requests behind the one that
// was answered with the farewell.
func (v *service) drain() {
	v.leaving.Store(true)
	over := time.Now().Add(farewellTime)
	for v.stack.open() > 0 && time.Now().Before(over) {
		time.Sleep(time.Millisecond)
	}
	v.stack.shutdown(drainTime)
}
