package main

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// envGate tells a worker the number of the descriptor it inherits.
const envGate = "FIBER_SERVER_GATE_FD"

// A gate tells the master when the last of its workers has drained. It is a pipe
// on which nothing is ever written: each worker holds the writing end and closes
// it when it has drained, or by dying, and the reading end is at its end when
// all have.
//
// It is needed because Fiber's master returns when the first worker exits, and
// kills the others on its way out. Were workers to exit once drained, the
// quickest would cut off the requests of the slowest. A fixed time for which
// each worker lingers was rejected: long enough to be safe on a busy machine is
// too long for a lab that restarts the server for every trial.
type gate struct {
	r, w *os.File
}

// openGate makes the pipe and announces it to the processes started after.
func openGate() (*gate, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	// Fiber starts the workers and gives no way to pass them a file, so the
	// descriptor has to survive exec by itself.
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETFD, 0); err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	if err := os.Setenv(envGate, strconv.Itoa(int(w.Fd()))); err != nil {
		return nil, fmt.Errorf("open gate: %w", err)
	}
	return &gate{r: r, w: w}, nil
}

// closeOwn closes the master's copy of the writing end, once every worker has
// its own.
func (g *gate) closeOwn() { g.w.Close() }

// drained returns a channel that is closed when no worker holds the gate.
func (g *gate) drained() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, g.r)
		close(done)
	}()
	return done
}

// inheritGate returns a worker's end.
func inheritGate() (*os.File, error) {
	fd, err := strconv.Atoi(os.Getenv(envGate))
	if err != nil {
		return nil, fmt.Errorf("%s is not a descriptor", envGate)
	}
	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "gate"), nil
}
