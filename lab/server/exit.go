package main

import (
	"os"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// exitLost is the status beside those of all programs: a worker ended without being
// asked, so the trial is spoiled.
const exitLost = 4

var self = program.Program{Name: "fiber_server", Out: os.Stdout, Errs: os.Stderr}

// say writes one line to stderr in one write, so that the lines of a master and
// its workers, which share the descriptor, do not mix.
func say(format string, args ...any) { self.Say(format, args...) }
