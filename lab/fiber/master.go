package main

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// A master starts the workers, passes a stop on to them, and tells a worker that was
// asked to end from one that was lost.
type master struct {
	gate    *gate
	sockets string        // the directory of the workers' pprof sockets; empty: there are none
	spawned chan struct{} // closed when every worker is started
	asked   chan struct{} // closed when a stop is asked for

	mu      sync.Mutex
	workers []int
}

// runMaster serves with prefork.
func runMaster(s Settings) int {
	stop := program.Asked()

	// As process 1 it would start and be lost half a second later, when the workers first
	// check for their parent. So it is refused.
	if os.Getpid() == 1 {
		say("--prefork: not as process 1, which Fiber's workers take for the sign of a dead master; start it under an " +
			"init or give --prefork=false")
		return program.Refused
	}
	addr, code := probe(s.Addr)
	if code != program.OK {
		return code
	}
	if err := announceMaster(); err != nil {
		say("%v", err)
		return program.Failure
	}
	g, err := openGate()
	if err != nil {
		say("%v", err)
		return program.Failure
	}
	m := &master{gate: g, sockets: s.PprofSockets, spawned: make(chan struct{}), asked: make(chan struct{})}

	app := fiber.New()
	app.Hooks().OnFork(m.add)
	app.Hooks().OnListen(func(fiber.ListenData) error {
		m.gate.closeOwn()
		close(m.spawned)
		return nil
	})
	go m.passOn(stop)

	// Linux takes the end of the thread that forked for the death of the parent (see
	// bindToMaster). This goroutine keeps its thread, so that the thread lasts as long as
	// the process.
	runtime.LockOSThread()

	say("master pid=%d workers=%d addr=%s", os.Getpid(), runtime.GOMAXPROCS(0), addr)
	err = app.Listen(s.Addr, fiber.ListenConfig{
		EnablePrefork:         true,
		ListenerNetwork:       network(s.Addr),
		DisableStartupMessage: true,
	})
	return m.verdict(err)
}

// announceMaster tells the workers which process started them. It also makes the
// command's path absolute: Fiber starts workers by os.Args[0], which a caller may have
// set to anything.
func announceMaster() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	os.Args[0] = exe
	return os.Setenv(envMaster, strconv.Itoa(os.Getpid()))
}

// add is Fiber's fork hook. In spite of its name, it runs in the master.
func (m *master) add(pid int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.workers = append(m.workers, pid)
	return nil
}

// passOn waits for a stop, asks the workers to drain, and ends them when all have drained
// or when its patience is over.
func (m *master) passOn(stop <-chan os.Signal) {
	<-stop
	close(m.asked)
	<-m.spawned
	m.signal(syscall.SIGTERM)
	select {
	case <-m.gate.drained():
	case <-time.After(masterPatience):
	}
	m.signal(syscall.SIGKILL)
}

func (m *master) signal(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pid := range m.workers {
		_ = syscall.Kill(pid, sig) // the worker may have ended already
	}
}

// verdict is called when the first worker has ended and Fiber has killed the rest. It
// waits until every worker is gone, and returns the exit code.
func (m *master) verdict(err error) int {
	asked := m.wasAsked()
	m.awaitGone()
	m.removeSockets()
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case asked:
		return program.OK
	case ended:
		say("lost a worker (pid %d: %v); stopping", exit.Pid(), exit.ProcessState)
		return exitLost
	case err == nil:
		// Fiber gives no pid for a worker that ends with status 0. No worker does (see
		// runWorker); this is for one that does by mistake.
		say("lost a worker (exit status 0); stopping")
		return exitLost
	default:
		say("%v", err)
		return program.Failure
	}
}

// wasAsked reports whether a stop was asked for. It waits a moment for the signal: Ctrl-C
// signals every process of the terminal, and a worker that is still starting can die of
// it before the master has got its own signal.
func (m *master) wasAsked() bool {
	select {
	case <-m.asked:
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

// awaitGone waits until every worker is dead and reaped. Fiber reaps them, but returns
// before it has done so.
func (m *master) awaitGone() {
	m.mu.Lock()
	defer m.mu.Unlock()
	deadline := time.Now().Add(time.Second)
	for _, pid := range m.workers {
		for syscall.Kill(pid, 0) == nil && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond)
		}
	}
}

// removeSockets removes the pprof sockets of workers that Fiber killed before they could
// remove them.
func (m *master) removeSockets() {
	if m.sockets == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pid := range m.workers {
		_ = os.Remove(endpoint.Path(m.sockets, pid)) // most workers have removed their own
	}
}
