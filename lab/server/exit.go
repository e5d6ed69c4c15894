package main

import (
	"fmt"
	"os"
)

// The exit codes. A script that starts the server can tell a mistake of its own
// (2), a neighbour (3) and a spoiled trial (4) apart without reading a line.
const (
	exitOK       = 0 // asked to stop, or printed what was asked for
	exitFailure  = 1 // anything without a code of its own
	exitSettings = 2 // a setting was refused
	exitInUse    = 3 // the address is taken
	exitLost     = 4 // a worker ended without being asked
)

// say writes one line to stderr in one write, so that the lines of a master and
// its workers, which share the descriptor, do not mix.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "fiber_server: "+format+"\n", args...)
}
