package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// envGate holds the number of the descriptor that a worker inherits.
const envGate = "FIBER_SERVER_GATE_FD"

// A gate tells the master when the last of its workers has drained. It is a pipe to which
// nothing is ever written: each worker holds the writing end, and closes it when it has
// drained or when it dies. The reading end reports the end of the file when all have
// closed it.
//
// It is needed because Fiber's master returns when the first worker exits, and then kills
// the others. If workers exited once drained, the quickest would cut off the requests of
// the slowest. A fixed time for which each worker lingers was rejected: a time that is
// safe on a busy machine is too long for a lab that restarts the server for every trial.
type gate struct {
	r, w *os.File
}

// openGate makes the pipe and announces it to processes that are started later.
func openGate() (*gate, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	// Fiber starts the workers and offers no way to pass them a file, so the descriptor
	// must stay open across exec.
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	if err := os.Setenv(envGate, strconv.Itoa(int(w.Fd()))); err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	return &gate{r: r, w: w}, nil
}

// closeOwn closes the master's copy of the writing end, once every worker has its own.
func (g *gate) closeOwn() { g.w.Close() }

// drained returns a channel that is closed when no process holds the writing end.
func (g *gate) drained() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, g.r)
		close(done)
	}()
	return done
}

// inheritGate returns the writing end that a worker inherited.
func inheritGate() (*os.File, error) {
	fd, err := strconv.Atoi(os.Getenv(envGate))
	if err != nil {
		return nil, fmt.Errorf("%s is not a descriptor", envGate)
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "gate"), nil
}
