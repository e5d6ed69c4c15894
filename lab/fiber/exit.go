package main

import (
	"os"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// exitLost is an exit status in addition to those that all programs have: a worker ended
// without being asked to, so the trial is spoiled.
const exitLost = 4

var self = program.Program{Name: "fiber_server", Out: os.Stdout, Errs: os.Stderr}

// say writes one line to stderr in one write. The master and its workers share that
// descriptor, and their lines must not mix.
func say(format string, args ...any) { self.Say(format, args...) }
