package load

import (
	"errors"
	"runtime"
)

// ErrNotReached is the error if nothing listens at a target's address.
var ErrNotReached = errors.New("nothing listens there")

// Begin prepares a process that does nothing but load. Go's runtime can then keep only one core busy; the
// load asks for more as it needs them.
func Begin() { runtime.GOMAXPROCS(1) }

// Options are what a load needs beside its plan. The zero value is a load of servers whose
// right answers nobody knows.
type Options struct {
	// Bodies gives the right bodies of a target that names its Answers, and here has its URL among
	// its Requests. A plan with such a target is refused without it.
	Bodies func(Target) (Bodies, error)
	// HTTP2 makes the client's side of each connection that is to speak HTTP/2; New of package
	// load/h2 does. A plan with such a target is refused without it.
	HTTP2 func(Target) (Session, error)
	// The load calls Stream when it opens a connection of a target that is a Stream. It returns what gets the
	// answer's body, part by part, and says how many events end in a part. The plan then has one thread. A plan
	// with such a target is refused without it.
	Stream func() func(part []byte) (events int)
	// The load calls Full once in each slot, when it has filled; Full must not wait. The slot goes
	// on loading and counts after Loader.Count: so several generators count at one time. nil: a
	// slot counts as soon as it is filled.
	Full func()
}
