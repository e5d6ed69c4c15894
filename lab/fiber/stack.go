package main

import (
	"net"
	"time"
)

// The stacks: the software between a connection and the body of an answer.
const (
	stackFiber    = "fiber"
	stackFastHTTP = "fasthttp"
	stackNetHTTP  = "net-http"
)

// A stack serves the routes. All stacks answer with the same bytes, except for the order
// of the header lines, so that two stacks differ only in their own work. They have no
// middleware on purpose: it would be in every figure. A handler that spins is added only
// when asked for.
type stack interface {
	// serve answers the connections of the listener, until it is shut down.
	serve(ln net.Listener) error
	// open is how many connections are open.
	open() int
	// shutdown takes no more connections and waits for the requests under way, but no
	// longer than patience.
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
