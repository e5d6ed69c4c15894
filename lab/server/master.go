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

	"github.com/line-rate/line-rate/lab/internal/pprofsock"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// A master starts the workers, passes a stop on to them, and tells a worker that
// was told to end from one that was not.
type master struct {
	gate    *gate
	sockets string        // where workers have pprof's sockets; empty: they have none
	spawned chan struct{} // closed when every worker is started
	asked   chan struct{} // closed when a stop is asked for

	mu      sync.Mutex
	workers []int
}

// runMaster serves with prefork.
func runMaster(s Settings) int {
	stop := program.Asked()

	// Refused rather than started and lost half a second later, when the
	// workers have had their first look.
	if os.Getpid() == 1 {
		say("--prefork: not as process 1, which Fiber's workers take for the sign of a dead master; start it under an init or give --prefork=false")
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

	// Linux takes the death of the thread that forked for the death of the
	// parent (see bindToMaster). This goroutine keeps its thread, so that the
	// thread lasts as long as the process.
	runtime.LockOSThread()

	say("master pid=%d workers=%d addr=%s", os.Getpid(), runtime.GOMAXPROCS(0), addr)
	err = app.Listen(s.Addr, fiber.ListenConfig{
		EnablePrefork:         true,
		ListenerNetwork:       network(s.Addr),
		DisableStartupMessage: true,
	})
	return m.verdict(err)
}

// announceMaster lets the workers know who started them. It also makes the
// command an absolute one: Fiber starts workers by os.Args[0], which a caller
// may have set to anything.
func announceMaster() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	os.Args[0] = exe
	return os.Setenv(envMaster, strconv.Itoa(os.Getpid()))
}

// add is Fiber's fork hook, which runs in the master in spite of its name.
func (m *master) add(pid int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.workers = append(m.workers, pid)
	return nil
}

// passOn waits for a stop, asks the workers to drain, and ends them when all
// have, or when its patience is over.
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
		_ = syscall.Kill(pid, sig) // it may be gone, which is as well
	}
}

// verdict is called when the first worker has ended and Fiber has killed the
// rest. It returns the exit code, and not before every worker is gone.
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
		// Fiber passes no pid on when a worker ends with status 0. None
		// does (see runWorker), so this is for the day one does.
		say("lost a worker (exit status 0); stopping")
		return exitLost
	default:
		say("%v", err)
		return program.Failure
	}
}

// wasAsked reports whether a stop was asked for. It gives the signal a moment:
// a Ctrl-C goes to every process of the terminal, and a worker that is not up
// yet can die of it before the master has seen its own.
func (m *master) wasAsked() bool {
	select {
	case <-m.asked:
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

// awaitGone waits until every worker is dead and reaped. Fiber reaps them; it
// does not wait for having done so.
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

// removeSockets removes the pprof sockets of workers that Fiber killed before
// they could do it themselves.
func (m *master) removeSockets() {
	if m.sockets == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, pid := range m.workers {
		_ = os.Remove(pprofsock.Path(m.sockets, pid)) // most have done it
	}
}
