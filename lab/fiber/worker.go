package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// envMaster tells a worker which process started it.
const envMaster = "FIBER_SERVER_MASTER_PID"

// runWorker serves as one of a master's workers.
func runWorker(s Settings) int {
	stop := program.Asked()

	if err := joinMaster(); err != nil {
		say("worker pid=%d: %v", os.Getpid(), err)
		return program.Failure
	}
	end, err := inheritGate()
	if err != nil {
		say("worker pid=%d: %v", os.Getpid(), err)
		return program.Failure
	}
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		say("worker pid=%d: %v", os.Getpid(), err)
		return program.Failure
	}

	// Before this worker says that it listens: a caller that has read that line of every
	// worker can take profiles of each.
	stopPprof, code := startPprof(s)
	if code != program.OK {
		return code
	}
	defer stopPprof()

	srv := newService(s, roleWorker, pool, newSource(s.Index))
	app, ok := srv.stack.(*fiberStack)
	if !ok { // cannot happen: parseSettings refuses it
		say("worker pid=%d: %s has no prefork", os.Getpid(), s.Stack)
		return program.Failure
	}
	served := make(chan error, 1)
	go func() {
		served <- app.fork(s.Addr, func(addr net.Addr) {
			say("worker pid=%d listening addr=%s", os.Getpid(), addr)
		})
	}()

	select {
	case err := <-served:
		say("worker pid=%d: serve: %v", os.Getpid(), err)
		return program.Failure
	case <-stop:
	}
	stopPprof()
	srv.drain()
	end.Close()

	// Now the master ends this process, once its siblings have drained too; see gate. If
	// it does not, the stop did not come from the master but from a signal to this worker
	// alone. That counts as a lost worker, hence the status.
	time.Sleep(lingerTime)
	return program.Failure
}

// joinMaster makes sure that this worker has a master and does not outlive it. It fails
// in a process that is no worker, in which Fiber's variable was set by hand, and in one
// whose master died while it was starting.
func joinMaster() error {
	if err := bindToMaster(); err != nil {
		return fmt.Errorf("bind to master: %w", err)
	}
	if os.Getenv(envMaster) != strconv.Itoa(os.Getppid()) {
		return fmt.Errorf("not started by a master; unset FIBER_PREFORK_CHILD")
	}
	return nil
}
