package main

import (
	"net"
	"time"
)

// The stacks: what stands between a connection and the body of an answer.
const (
	stackFiber    = "fiber"
	stackFastHTTP = "fasthttp"
	stackNetHTTP  = "net-http"
)

// A stack serves the routes. Each answers with the same bytes but for the order
// of the head's lines, so that what differs between two of them is their own
// work. Middleware is absent on purpose: it would be in every figure. What
// burns is there only when asked for.
type stack interface {
	// serve answers what comes to the listener, until it is shut down.
	serve(ln net.Listener) error
	// open is how many connections are open.
	open() int
	// shutdown takes no more connections and waits for the requests under way,
	// no longer than that.
	shutdown(patience time.Duration)
}

// newStack returns the stack that the settings name.
func newStack(s Settings, v *service, routes []route) stack {
	switch s.Stack {
	case stackFastHTTP:
		return newFastHTTP(s, v, routes)
	case stackNetHTTP:
		return newNetHTTP(s, v, routes)
	}
	return newFiber(s, v, routes)
}
